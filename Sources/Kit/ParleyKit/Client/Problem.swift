public import ParleyJSON

/// The problem details of a rejected request (RFC 9457). `code` is stable.
public struct Problem: Sendable, Hashable, JSONReadable {
  public let code: String
  public let status: Int
  /// For developers, in English.
  public let title: String
  public let detail: String?
  public let errors: [FieldError]
  /// Seconds until a retry is allowed.
  public var retryAfter: Int?
  /// The complete JSON, with the members that depend on the code.
  public let representation: JSONRaw

  /// An invalid field.
  public struct FieldError: Sendable, Hashable, JSONReadable {
    public let field: String
    public let code: String

    public init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      field = try object.string("field")
      code = try object.string("code")
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    representation = value.raw
    var object = try value.object()
    code = try object.string("code")
    status = try object.int("status")
    title = try object.string("title")
    detail = try object.optional("detail")
    errors = try object.optional("errors") ?? []
  }
}
