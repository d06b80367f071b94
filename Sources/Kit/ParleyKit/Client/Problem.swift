public import ParleyJSON

/// The problem details of a rejected request (RFC 9457). `code` is stable.
public struct Problem: Sendable, Hashable, JSONReadable {
  /// A stable code of the problem: see the documentation of errors.
  public let code: Code
  /// The HTTP status.
  public let status: Int
  /// For developers, in English.
  public let title: String
  /// A sentence about this occurrence, in English.
  public let detail: String?
  /// The limit that the request exceeds: of a size in bytes, or of a number of objects.
  public let limit: Int?
  /// The wrong fields, all of them.
  public let errors: [FieldError]
  /// Seconds until a retry is allowed.
  public var retryAfter: Int?
  /// The complete JSON, with the members that depend on the code.
  public let representation: JSONRaw

  /// An invalid field.
  public struct FieldError: Sendable, Hashable, JSONReadable {
    /// The path of the field, such as `poll.options[1]`.
    public let field: String
    /// A stable code of the fault in the field.
    public let code: String
    /// The bounds that the value exceeds: of a length, of a number of elements or of a number.
    public private(set) var min: Int?
    /// The upper one of these bounds.
    public private(set) var max: Int?
    /// The accepted values, if there are only some.
    public private(set) var allowed: [String] = []

    public init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      field = try object.string("field")
      code = try object.string("code")
      guard let params: Params = try object.optional("params") else { return }
      (min, max, allowed) = (params.min, params.max, params.allowed)
    }

    /// Parameters of an unknown type are ignored: a newer server may send them.
    private struct Params: JSONReadable {
      let min: Int?
      let max: Int?
      let allowed: [String]

      init(json value: JSONValue) throws(JSONError) {
        var object = try value.object()
        min = (try? object.optional("min")) ?? nil
        max = (try? object.optional("limit")) ?? (try? object.optional("max")) ?? nil
        allowed = (try? object.optional("allowed")) ?? []
      }
    }

    /// The fault of the value, in English: `is too long: at most 16000`.
    public var userMessage: String {
      switch code {
      case "missing": "is missing"
      case "taken": "is taken"
      case "unknown": "is unknown"
      case "too_common": "is too common"
      case "too_short": "is too short" + (min.map { ": at least \($0)" } ?? "")
      case "too_long": "is too long" + (max.map { ": at most \($0)" } ?? "")
      case "too_many": "has too many elements" + (max.map { ": at most \($0)" } ?? "")
      case "out_of_range":
        if let min, let max { "is not between \(min) and \(max)" } else { "is out of range" }
      case "unknown_field": "is no field"
      default: "is invalid" + (allowed.isEmpty ? "" : ": one of \(allowed.joined(separator: ", "))")
      }
    }
  }

  /// Parameters of another type are ignored: some codes name their limit.
  private struct Params: JSONReadable {
    let limit: Int?

    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      limit = (try? object.optional("limit")) ?? nil
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    representation = value.raw
    var object = try value.object()
    code = try object.read("code")
    status = try object.int("status")
    title = try object.string("title")
    detail = try object.optional("detail")
    let params: Params? = try object.optional("params")
    limit = params?.limit
    errors = try object.optional("errors") ?? []
  }
}
