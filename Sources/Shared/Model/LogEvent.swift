import ParleyJSON

/// A line of the server's log that programs may search for: a stable name, fields, and a sentence for people.
package enum LogEvent: String, Sendable, CaseIterable {
  case start, stop, reload, migration, backup, restore, hook, certificate, alert
  case restoreTest = "restore_test"
  case signInFailed = "sign_in_failed"
  /// A code or a refresh token of an app was used a second time.
  case tokenReused = "token_reused"
  /// A sign-in at an OpenID provider failed, or its request to end sessions.
  case issuerFailed = "issuer_failed"

  /// A line such as `event=backup result=ok path=/srv/a.tar Scheduled backup …`.
  package func line(_ fields: KeyValuePairs<String, String> = [:], _ sentence: String = "") -> String {
    var line = "event=\(rawValue)"
    for (name, value) in fields { line += " \(name)=\(Self.quoted(value))" }
    return sentence.isEmpty ? line : line + " " + Self.plain(sentence)
  }

  /// A value with spaces or quotation marks, in quotation marks.
  private static func quoted(_ value: String) -> String {
    let value = plain(value)
    guard value.isEmpty || value.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return value }
    return "\"\(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  /// One line: a text of others can't begin a line of its own.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || 127...159 ~= $0.value ? " " : $0 }))
  }
}
