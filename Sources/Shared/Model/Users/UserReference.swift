public import ParleyJSON

/// Reference to a user in a request: `me`, `@name`, or an id.
public enum UserReference: Sendable, Hashable {
  /// The caller.
  case me
  /// By name, without `@`.
  case name(String)
  /// By id.
  case id(ID<User>)

  /// Parses `me`, `@ada` or `7`; nil for another text, and for an invalid or reserved name.
  public init?(parsing text: String) {
    if text == "me" {
      self = .me
    } else if text.utf8.first == UInt8(ascii: "@") {
      guard let name = UserName(String(text.dropFirst())) else { return nil }
      self = .name(name.text)
    } else {
      guard let id = ID<User>(text) else { return nil }
      self = .id(id)
    }
  }
}

extension UserReference: CustomStringConvertible {
  /// `me`, `@ada` or `7`.
  public var description: String {
    switch self {
    case .me: "me"
    case .name(let name): "@" + name
    case .id(let id): id.description
    }
  }
}

extension UserReference: JSONWritable {
  public func write(to json: inout JSONWriter) { json.value(description) }
}

extension UserReference: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let reference = UserReference(parsing: try value.string()) else { throw value.error(.invalid) }
    self = reference
  }
}
