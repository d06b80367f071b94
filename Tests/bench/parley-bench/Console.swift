import Glibc

/// Messages and progress on standard error. Progress is only shown on a terminal.
enum Console {
  static let isTerminal = isatty(STDERR_FILENO) == 1

  static func log(_ text: String) {
    write(text + "\n")
  }

  /// Replaces the previous progress line.
  static func progress(_ text: String) {
    if isTerminal { write("\r\u{1B}[K\(text)") }
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
