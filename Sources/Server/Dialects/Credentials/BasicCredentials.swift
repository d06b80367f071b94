import ParleyWire

/// The name and the password of an `Authorization` field (RFC 7617).
struct BasicCredentials {
  let name: String
  let password: String

  init(name: String, password: String) {
    self.name = name
    self.password = password
  }

  /// Nil without such a field: the credentials of the API then count. A malformed one has an empty name, which no user has.
  init?(_ fields: Fields) {
    guard let field = fields["authorization"] else { return nil }
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.first?.lowercased() == "basic" else { return nil }
    guard parts.count == 2, let bytes = Base64.decode(String(parts[1])),
      let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":")
    else {
      self.init(name: "", password: "")
      return
    }
    // The password may contain colons.
    self.init(name: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
  }
}
