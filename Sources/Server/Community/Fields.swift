// Fields shared by several requests, with their limits.

import ParleyModel

extension Texts {
  /// A name that is displayed within other text. Bidirectional controls are refused, because they would reorder the
  /// text that follows (UAX #9).
  static func label(_ text: String, _ field: String, scalars limit: Int) throws(Refusal) -> String {
    let line = try line(text, field, scalars: limit)
    let isPlain = line.unicodeScalars.allSatisfy { scalar in
      !(0x202a...0x202e).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
    }
    guard isPlain else { throw .invalid(field, .invalid) }
    return line
  }

  static func displayName(_ text: String, _ bounds: Bounds) throws(Refusal) -> String {
    try label(text, "display_name", scalars: bounds.displayNameScalars)
  }

  static func title(_ text: String, _ bounds: Bounds) throws(Refusal) -> String {
    try label(text, "title", scalars: bounds.titleScalars)
  }

  /// A text without a visible character is empty.
  static func checkMessage(_ text: String, _ bounds: Bounds, canBeEmpty: Bool = false) throws(Refusal) {
    _ = try block(text, "text", scalars: bounds.messageScalars)
    guard canBeEmpty || text.isVisible else { throw .invalid("text", .tooShort(min: 1)) }
  }

  /// A user's name for a device.
  static func device(_ text: String, _ bounds: Bounds) throws(Refusal) -> String {
    try line(text, "device", scalars: bounds.labelScalars, atLeast: 0)
  }

  static func checkName(_ text: String) throws(Refusal) {
    guard UserName(text) != nil else { throw .invalid("name", .invalid) }
  }

  static func checkPassword(_ text: String, _ bounds: Bounds) throws(Refusal) {
    guard text.utf8.count <= bounds.passwordBytes else {
      throw .invalid("password", .tooLong(limit: bounds.passwordBytes))
    }
    _ = try block(text, "password", scalars: bounds.passwordBytes, atLeast: bounds.minPasswordScalars)
    guard !CommonPasswords.contains(text) else { throw .invalid("password", .tooCommon) }
  }

  /// An idempotency key chosen by the client.
  static func checkClientID(_ text: String, _ bounds: Bounds) throws(Refusal) {
    guard text.utf8.count <= bounds.clientIDBytes else {
      throw .invalid("client_id", .tooLong(limit: bounds.clientIDBytes))
    }
    _ = try block(text, "client_id", scalars: bounds.clientIDBytes, atLeast: 1)
  }
}
