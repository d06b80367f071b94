import Glibc
import ParleyJSON
import ParleyModel
import ParleyNetworking
import Synchronization

/// Standard input, output and error. Results go to standard output, messages to standard error, both unbuffered.
enum Terminal {
  private static let hasLostOutput = Atomic(false)
  private static let hasClosedReader = Atomic(false)

  /// - Returns: false if standard output is closed or full.
  @discardableResult
  static func print(_ text: String) -> Bool { print(Array(text.utf8)) }

  /// - Returns: false if standard output is closed or full.
  @discardableResult
  static func print(_ bytes: [UInt8]) -> Bool {
    guard !hasLostOutput.load(ordering: .relaxed), !hasClosedReader.load(ordering: .relaxed) else { return false }
    if Descriptor.writeAll(bytes, to: STDOUT_FILENO) { return true }
    if errno == EPIPE {
      hasClosedReader.store(true, ordering: .relaxed)
    } else {
      hasLostOutput.store(true, ordering: .relaxed)
    }
    return false
  }

  /// The exit status of the program: a failure if a part of the output is lost. A reader such as `head` closes the pipe
  /// when it has enough, so that needs no message.
  static func exitStatus(_ status: Int32) -> Int32 {
    guard status == 0 else { return status }
    if hasLostOutput.load(ordering: .relaxed) {
      log("Can't write to standard output.")
      return Outcome.Status.failure.rawValue
    }
    return hasClosedReader.load(ordering: .relaxed) ? Outcome.Status.failure.rawValue : status
  }

  /// Prints a question without a line break.
  static func prompt(_ text: String) { Descriptor.writeAll(Array(text.utf8), to: STDERR_FILENO) }

  static func log(_ message: String) {
    Descriptor.writeAll(Array("parley: \(message)\n".utf8), to: STDERR_FILENO)
  }

  static func log(_ event: LogEvent, _ fields: KeyValuePairs<String, String> = [:], _ sentence: String = "") {
    log(event.line(fields, sentence))
  }

  /// The code of the user's language; nil if the locale names none.
  static var language: String? {
    let variables = environment
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    guard let code = locale?.prefix(while: \.isLetter), code.count == 2 else { return nil }
    return String(code)
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
  static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// The width of the terminal of standard error; nil if it is unknown.
  static var columns: Int? {
    var size = winsize()
    guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Replaces control and format characters in untrusted text, which a terminal would execute. The result is one line.
  static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { isHarmless($0) ? $0 : " " }))
  }

  /// The lines of an untrusted text, without control and format characters except tabs.
  static func plainLines(_ text: String) -> [String] {
    text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map { line in
      String(String.UnicodeScalarView(line.unicodeScalars.map { $0 == "\t" || isHarmless($0) ? $0 : " " }))
    }
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    // The zero-width joiner of emoji such as families.
    if scalar.value == 0x200d { return true }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    default: return true
    }
  }

  /// Colours on a terminal, unless `NO_COLOR` is set (https://no-color.org) or the terminal has none.
  static var style: TextStyle {
    let environment = environment
    return TextStyle(
      isColored: isOutputTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb")
  }

  /// Date and time in the time zone of the machine or of `TZ`.
  static func localTime(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var local = unsafe tm()
    guard unsafe localtime_r(&seconds, &local) != nil else { return Timestamp.format(Int(milliseconds)) }
    let two = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
    let date = unsafe [two(local.tm_mon + 1), two(local.tm_mday)]
    let time = unsafe [two(local.tm_hour), two(local.tm_min)]
    return unsafe "\(local.tm_year + 1_900)-\(date.joined(separator: "-")) \(time.joined(separator: ":"))"
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

  /// Reads all of standard input as a text, without the final newline.
  static func input() -> String {
    var bytes = inputBytes()
    if bytes.last == 10 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
  }

  /// Reads all of standard input.
  static func inputBytes() -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Asks for a confirmation on the terminal.
  static func confirms(_ question: String) -> Bool {
    Descriptor.writeAll(Array("\(question) [y/N] ".utf8), to: STDERR_FILENO)
    return ["y", "yes"].contains((readLine() ?? "").lowercased())
  }
}
