import Glibc

/// What people see besides the result: complaints, and how far it is, which only a terminal gets.
enum Console {
  static let isTerminal = isatty(STDERR_FILENO) == 1

  static func complain(_ text: String) {
    write(text + "\n")
  }

  /// Takes the place of what was said before.
  static func progress(_ text: String) {
    if isTerminal { write("\r\u{1B}[K\(text)") }
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
