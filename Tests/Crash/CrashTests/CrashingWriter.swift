import Foundation

/// A `crash-writer` that runs until it is killed, at the latest with this object.
final class CrashingWriter {
  /// The moment of the kill.
  enum Moment {
    case afterStart(milliseconds: Int)
    case onceOpen
    case afterAnswers(Int)
    /// Once it has begun a checkpoint, the only time that it writes to the database file.
    case inCheckpoint(microsecondsLater: UInt32)
  }

  struct NotStarted: Error {
    let code: Int32
  }

  private let process: pid_t
  private let output: Int32
  private let database: String
  private var rest: [UInt8] = []
  private var isOver = false
  private(set) var lines: [String] = []
  /// The number of lines that are answers of the store.
  private var answerCount = 0

  /// In the folder of the test binary.
  private static let program: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "crash-writer").path
  }()

  init(in folder: String, arguments: [String], lies: String?) throws {
    database = folder + "/parley.db"
    var ends: [Int32] = [0, 0]
    // Not inherited by other programs, so that the end of the output is the end of the process.
    guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
      throw NotStarted(code: errno)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    let words = Self.copies([Self.program, folder] + arguments)
    let environment = Self.copies(lies.map { ["CRASH_WRITER_LIES=\($0)"] } ?? [])
    defer { for text in words + environment { free(text) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, Self.program, &actions, nil, words, environment)
    close(ends[1])
    output = ends[0]
    self.process = process
    guard code == 0 else {
      isOver = true
      throw NotStarted(code: code)
    }
  }

  /// C strings, to be freed.
  private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    texts.map { text in strdup(text) } + [nil]
  }

  deinit {
    kill()
    close(output)
  }

  /// Lets the process write until the moment, kills it and reads the rest of its output. Blocks.
  func run(until moment: Moment) {
    switch moment {
    case .afterStart(let milliseconds):
      let start = ContinuousClock.now
      readLines { ContinuousClock.now - start >= .milliseconds(milliseconds) }
    case .onceOpen: readLines { self.lines.contains("open") }
    case .afterAnswers(let count): readLines { self.answerCount >= count }
    case .inCheckpoint(let later):
      readLines { self.lines.contains("open") }
      let before = lastChange
      readLines { self.lastChange != before }
      usleep(later)
    }
    kill()
  }

  private func kill() {
    guard !isOver else { return }
    isOver = true
    Glibc.kill(process, SIGKILL)
    while readAvailable() {}
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  /// A hanging process is killed after this. The test then finds the missing lines.
  private static let timeout: Duration = .seconds(60)

  private func readLines(until isDue: () -> Bool) {
    let end = ContinuousClock.now + Self.timeout
    while !isDue(), ContinuousClock.now < end {
      var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, 1) > 0, !readAvailable() { return }
    }
  }

  /// Waits for output. Returns false at its end.
  private func readAvailable() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(output, &buffer, buffer.count)
    guard count > 0 else { return count < 0 && errno == EINTR }
    rest += buffer[..<count]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: rest[..<end], as: UTF8.self)
      lines.append(line)
      if line != "open", !line.hasPrefix("change ") { answerCount += 1 }
      rest.removeSubrange(...end)
    }
    return true
  }

  private var lastChange: Int {
    var found = stat()
    stat(database, &found)
    return found.st_mtim.tv_sec * 1_000_000_000 + found.st_mtim.tv_nsec
  }
}
