import Glibc
import ParleyNetworking
import Synchronization

/// What is being done, and how far it has come. A total of 0: nobody knows how long it takes.
struct Progress: Equatable {
  let name: String
  let done: Int
  let total: Int

  init(_ name: String, done: Int = 0, of total: Int = 0) {
    self.name = name
    self.done = done
    self.total = total
  }

  /// Called often; whether the work is to go on.
  typealias Report = @Sendable (Progress) -> Bool
}

/// How far something long has come, on standard error: on a terminal one line that is drawn again, elsewhere one line for
/// each thing that begins.
final class ProgressBar: Sendable {
  private struct State {
    var name = ""
    var drawn: String?
    var nextDraw: Int64 = 0
  }

  private let isTerminal: Bool
  private let state = Mutex(State())

  private static let width = 30
  private static let longestName = 24
  /// Nanoseconds between two drawings.
  private static let interval: Int64 = 100_000_000

  init(isTerminal: Bool = isatty(STDERR_FILENO) == 1) { self.isTerminal = isTerminal }

  /// For what says on standard output already what begins and ends: nil elsewhere.
  static var onTerminal: ProgressBar? { isatty(STDERR_FILENO) == 1 ? ProgressBar(isTerminal: true) : nil }

  func show(_ progress: Progress) {
    let text = state.withLock { state -> String? in
      let isNew = state.name != progress.name
      state.name = progress.name
      guard isTerminal else { return isNew ? "\(progress.name)\n" : nil }
      let now = Clock.monotonic()
      guard isNew || now >= state.nextDraw || progress.done == progress.total else { return nil }
      state.nextDraw = now + Self.interval
      let line = Self.line(progress, columns: Terminal.columns ?? .max)
      guard line != state.drawn else { return nil }
      state.drawn = line
      return "\r\u{1b}[K" + line
    }
    if let text { Descriptor.writeAll(Array(text.utf8), to: STDERR_FILENO) }
  }

  /// Makes room for what is said at the end.
  func clear() {
    let isDrawn = state.withLock { state in
      defer { state.drawn = nil }
      return state.drawn != nil
    }
    if isDrawn { Descriptor.writeAll(Array("\r\u{1b}[K".utf8), to: STDERR_FILENO) }
  }

  /// What does not fit in a line would be left standing above it: first the bar is shorter, then the name.
  static func line(_ progress: Progress, columns: Int = .max) -> String {
    // The last column stays empty, and the rest of the line takes seven.
    let room = max(0, columns - 8)
    let nameRoom = min(longestName, room)
    let width = min(width, room - nameRoom)
    var name = progress.name
    if name.count > nameRoom, columns < .max { name = nameRoom > 0 ? name.prefix(nameRoom - 1) + "…" : "" }
    let padded = name + String(repeating: " ", count: max(0, nameRoom - name.count))
    guard progress.total > 0 else { return "\(padded) …" }
    // A fraction first: the product might not fit.
    let part = min(max(Double(progress.done) / Double(progress.total), 0), 1)
    let full = Int(part * Double(width))
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    let percent = String(Int(part * 100))
    return "\(padded) \(bar) \(String(repeating: " ", count: 3 - percent.count))\(percent) %"
  }
}
