import Glibc
import ParleyNetworking
import Synchronization

/// The phase of an operation and its progress. A total of 0 is unknown.
struct Progress: Equatable {
  let name: String
  let done: Int
  let total: Int

  init(_ name: String, done: Int = 0, of total: Int = 0) {
    self.name = name
    self.done = done
    self.total = total
  }

  /// Called often. Returns false to cancel the operation.
  typealias Report = @Sendable (Progress) -> Bool
}

/// Progress on standard error: one line that is redrawn on a terminal, otherwise one line per phase.
final class ProgressBar: Sendable {
  private struct State {
    var name = ""
    var drawn: String?
    var nextDraw: Int64 = 0
  }

  private let isTerminal: Bool
  private let state = Mutex(State())

  private static let width = 30
  private static let maxNameLength = 24
  /// Nanoseconds between two redraws.
  private static let interval: Int64 = 100_000_000

  init(isTerminal: Bool = isatty(STDERR_FILENO) == 1) { self.isTerminal = isTerminal }

  /// Nil unless standard error is a terminal, for commands that print each phase on standard output.
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

  /// Erases the bar.
  func clear() {
    let isDrawn = state.withLock { state in
      defer { state.drawn = nil }
      return state.drawn != nil
    }
    if isDrawn { Descriptor.writeAll(Array("\r\u{1b}[K".utf8), to: STDERR_FILENO) }
  }

  /// Fits the line into the width of the terminal, because a wrapped line cannot be redrawn. Shortens the bar first,
  /// then the name.
  static func line(_ progress: Progress, columns: Int = .max) -> String {
    // The last column stays empty; spaces and the percentage take seven.
    let room = max(0, columns - 8)
    let nameWidth = min(maxNameLength, room)
    let width = min(width, room - nameWidth)
    var name = progress.name
    if name.count > nameWidth, columns < .max { name = nameWidth > 0 ? name.prefix(nameWidth - 1) + "…" : "" }
    let padded = name + String(repeating: " ", count: max(0, nameWidth - name.count))
    guard progress.total > 0 else { return "\(padded) …" }
    // Divide first: the product may overflow.
    let part = min(max(Double(progress.done) / Double(progress.total), 0), 1)
    let full = Int(part * Double(width))
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    let percent = String(Int(part * 100))
    return "\(padded) \(bar) \(String(repeating: " ", count: 3 - percent.count))\(percent) %"
  }
}
