public import ParleyJSON

/// What a server answers when it says no (RFC 9457), by its stable `code`.
public struct Problem: Sendable, Hashable, JSONReadable {
  public let code: String
  public let status: Int
  /// For developers, in English.
  public let title: String
  public let detail: String?
  public let errors: [FieldError]
  /// After so many seconds it may be tried again.
  public var retryAfter: Int?
  /// All of it, with what belongs to the code.
  public let representation: JSONRaw

  /// What is wrong with one field.
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
