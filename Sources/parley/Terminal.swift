import Glibc
import ParleyNetworking

/// Words for the person who started the program: what was asked for on standard output, all else on standard error.
/// Unbuffered, so that whoever waits for a line gets it.
enum Terminal {
  /// - Returns: whether somebody takes it.
  @discardableResult
  static func print(_ text: String) -> Bool { Descriptor.writeAll(Array(text.utf8), to: STDOUT_FILENO) }

  static func complain(_ sentence: String) {
    Descriptor.writeAll(Array("parley: \(sentence)\n".utf8), to: STDERR_FILENO)
  }

  static var environment: [String: String] {
    var all: [String: String] = [:]
    var place = unsafe environ
    while let entry = unsafe place.pointee {
      let pair = unsafe String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2 { all[String(pair[0])] = String(pair[1]) }
      unsafe place += 1
    }
    return all
  }

  /// How wide the terminal is on which progress is drawn; nil where nobody knows.
  static var columns: Int? {
    var size = winsize()
    guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// What somebody wrote must not speak to the terminal.
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

  /// Set off from the rest where somebody looks at a terminal (https://no-color.org).
  static func bold(_ text: String) -> String {
    isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"] == nil ? "\u{1b}[1m\(text)\u{1b}[0m" : text
  }

  /// A line of standard input; on a terminal it is asked for, and not shown while it is typed.
  static func secret(_ question: String) -> String? {
    guard isatty(STDIN_FILENO) == 1 else { return readLine() }
    Descriptor.writeAll(Array(question.utf8), to: STDERR_FILENO)
    var before = termios()
    guard unsafe tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO)
    guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { return nil }
    defer {
      _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
      Descriptor.writeAll([10], to: STDERR_FILENO)
    }
    return readLine()
  }

  /// All of standard input.
  static func input() -> String {
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines.joined(separator: "\n")
  }
}
