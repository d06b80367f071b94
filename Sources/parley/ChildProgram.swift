import Glibc
import ParleyJSON
import ParleyNetworking
import Storage
import Synchronization

/// A program of the operator, run without a shell and with a time limit.
struct ChildProgram: Sendable, Equatable {
  /// The absolute path, then the arguments.
  let arguments: [String]

  /// The result of a run.
  struct Result: Sendable, Equatable {
    enum End: Sendable, Equatable {
      case exited(Int32)
      case signalled(Int32)
      case timedOut
      case cancelled
      /// The reason of the system.
      case notStarted(String)
    }

    let end: End
    /// The last bytes of standard output and standard error.
    let output: String

    var isSuccess: Bool { end == .exited(0) }

    var reason: String {
      let words =
        switch end {
        case .exited(let status): "exit status \(status)"
        case .signalled(let number): "ended by signal \(number)"
        case .timedOut: "it took too long"
        case .cancelled: "it was ended"
        case .notStarted(let reason): "it can't be started: \(reason)"
        }
      return output.isEmpty ? words : "\(words): \(output)"
    }
  }

  private static let maxOutput = 4_096
  /// Milliseconds between two looks at a program that has closed its output.
  private static let pollInterval: Int32 = 20

  init(_ arguments: [String]) { self.arguments = arguments }

  /// Splits a command at spaces. Quotation marks and `\` protect them, `\` also in double quotes. There are no variables and
  /// no patterns. Nil for an open quotation mark or a final `\`.
  static func words(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
        word = word ?? ""
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "\"" || character == "'" {
        quote = character
        word = word ?? ""
      } else if character == " " || character == "\t" {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else { return nil }
    if let word { words.append(word) }
    return words
  }

  /// The program with `{}` in its arguments replaced.
  func replacing(with text: String) -> ChildProgram {
    ChildProgram(arguments.prefix(1) + arguments.dropFirst().map { $0.replacing("{}", with: text) })
  }

  /// Runs the program on a thread of its own. At the limit it is killed with its children, and so it is when the task is
  /// cancelled.
  ///
  /// - Parameters:
  ///   - input: standard input, at most 32 KB.
  ///   - environment: variables beside those of this process.
  func run(input: String, environment: [String: String], within seconds: Int) async -> Result {
    let queue = SerialQueue("parley.program")
    let cancellation = Cancellation()
    return await withTaskCancellationHandler {
      await Task(executorPreference: queue) { runHere(input, environment, seconds, cancellation) }.value
    } onCancel: {
      cancellation.isCancelled.store(true, ordering: .relaxed)
    }
  }

  private final class Cancellation: Sendable {
    let isCancelled = Atomic(false)
  }

  private func runHere(
    _ input: String, _ environment: [String: String], _ seconds: Int, _ cancellation: Cancellation
  ) -> Result {
    do throws(SystemError) {
      let (process, output) = try start(input, environment)
      defer { close(output) }
      return Self.wait(for: process, output: output, seconds, cancellation)
    } catch {
      return Result(end: .notStarted(error.reason), output: "")
    }
  }

  /// Starts the program with its input. The caller closes the output.
  private func start(
    _ input: String, _ environment: [String: String]
  ) throws(SystemError) -> (process: pid_t, output: Int32) {
    let inputEnds = try Descriptor.pipe()
    defer {
      close(inputEnds.reading)
      close(inputEnds.writing)
    }
    let outputEnds = try Descriptor.pipe()
    defer { close(outputEnds.writing) }
    do throws(SystemError) {
      let process = try start(environment, input: inputEnds.reading, output: outputEnds.writing)
      // A pipe holds 64 KB: the write does not wait for the program.
      Descriptor.writeAll(Array(input.utf8.prefix(32_768)), to: inputEnds.writing)
      return (process, outputEnds.reading)
    } catch {
      close(outputEnds.reading)
      throw error
    }
  }

  /// Starts the program as the leader of a process group.
  private func start(
    _ extra: [String: String], input: Int32, output: Int32
  ) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The daemon ignores SIGPIPE and blocks the signals that it handles; a program expects the defaults.
    var (all, none) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let variables = Terminal.environment.merging(extra) { _, new in new }.map { "\($0)=\($1)" }
    var (words, environment) = unsafe (
      arguments.map { unsafe strdup($0) } + [nil], variables.map { unsafe strdup($0) } + [nil]
    )
    defer { unsafe (words + environment).forEach { unsafe free($0) } }
    var process = pid_t()
    let code = unsafe posix_spawn(&process, arguments[0], &actions, &attributes, &words, &environment)
    guard code == 0 else { throw SystemError("posix_spawn", code: code) }
    return process
  }

  private static func wait(
    for process: pid_t, output: Int32, _ seconds: Int, _ cancellation: Cancellation
  ) -> Result {
    let deadline = Clock.monotonic() + Int64(seconds) * 1_000_000_000
    var bytes: [UInt8] = []
    // The size of a pipe: one read after the end of the program takes the rest, though a child may go on writing.
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var isOpen = true
    var status: Int32 = 0
    while true {
      let rest = (deadline - Clock.monotonic()) / 1_000_000
      let isCancelled = cancellation.isCancelled.load(ordering: .relaxed)
      guard rest > 0, !isCancelled else {
        kill(-process, SIGKILL)
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return Result(end: isCancelled ? .cancelled : .timedOut, output: text(bytes))
      }
      // A child of the program may keep the output open after its end.
      let hasEnded = unsafe waitpid(process, &status, WNOHANG) == process
      var waiting = pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0)
      let time = hasEnded ? 0 : isOpen ? Int32(min(rest, 200)) : pollInterval
      if unsafe poll(&waiting, 1, time) > 0 {
        let count = unsafe read(output, &buffer, buffer.count)
        if count > 0 {
          bytes = Array((bytes + buffer[..<count]).suffix(maxOutput))
        } else if count == 0 || errno != EINTR {
          isOpen = false
        }
      }
      if hasEnded {
        let signal = status & 0x7f
        return Result(end: signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal), output: text(bytes))
      }
    }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return Terminal.plain(String(text.reversed().drop(while: \.isWhitespace).reversed()))
  }
}

extension Settings {
  /// The program of a setting, which takes `kinds`, such as "a URL, or a program".
  func program(_ setting: Setting, _ text: String, kinds: String) throws(UsageError) -> ChildProgram {
    guard let words = ChildProgram.words(text), let path = words.first else {
      throw mistake(setting, "has an open quotation mark or ends in a backslash.")
    }
    guard path.hasPrefix("/") else {
      throw mistake(
        setting, "takes \(kinds) with its absolute path such as /usr/bin/logger, not \"\(Terminal.plain(path))\".")
    }
    guard FileSystem.isExecutable(path) else {
      throw mistake(setting, "names the program \(Terminal.plain(path)), which can't be executed.")
    }
    return ChildProgram(words)
  }
}
