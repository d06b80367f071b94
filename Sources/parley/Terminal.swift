import Glibc
import ParleyNetworking
import Synchronization

/// Standard input, output and error. Results go to standard output, messages to standard error, both unbuffered.
enum Terminal {
  private static let hasLostOutput = Atomic(false)

  /// - Returns: false if standard output is closed or full.
  @discardableResult
  static func print(_ text: String) -> Bool {
    if Descriptor.writeAll(Array(text.utf8), to: STDOUT_FILENO) { return true }
    // A reader such as `head` has what it wants.
    if errno != EPIPE { hasLostOutput.store(true, ordering: .relaxed) }
    return false
  }

  /// The exit status of the program: a failure if a part of the output is lost.
  static func exitStatus(_ status: Int32) -> Int32 {
    guard status == 0, hasLostOutput.load(ordering: .relaxed) else { return status }
    log("Can't write to standard output.")
    return Outcome.Status.failure.rawValue
  }

  static func log(_ message: String) {
    Descriptor.writeAll(Array("parley: \(message)\n".utf8), to: STDERR_FILENO)
  }

  static var environment: [String: String] {
    var all: [String: String] = [:]
    var pointer = unsafe environ
    while let entry = unsafe pointer.pointee {
      let pair = unsafe String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2 { all[String(pair[0])] = String(pair[1]) }
      unsafe pointer += 1
    }
    return all
  }

  static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// The width of the terminal of standard error; nil if it is unknown.
  static var columns: Int? {
    var size = winsize()
    guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Replaces control and format characters in untrusted text, which a terminal would execute.
  static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
          default: scalar
          }
        }))
  }

  /// Bold on a terminal, unless NO_COLOR is set (https://no-color.org).
  static func bold(_ text: String) -> String {
    isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"] == nil ? "\u{1b}[1m\(text)\u{1b}[0m" : text
  }

  /// Reads a line of standard input. A terminal shows the prompt and does not echo.
  static func secret(_ prompt: String) -> String? {
    guard isatty(STDIN_FILENO) == 1 else { return readLine() }
    Descriptor.writeAll(Array(prompt.utf8), to: STDERR_FILENO)
    var saved = termios()
    guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else { return nil }
    var silent = saved
    silent.c_lflag &= ~tcflag_t(ECHO)
    guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { return nil }
    defer {
      _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
      Descriptor.writeAll([10], to: STDERR_FILENO)
    }
    return readLine()
  }

  /// Reads all of standard input.
  static func input() -> String {
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines.joined(separator: "\n")
  }
}
