/// How far each stream is held, and so which events are new, known, or missing before one.
struct StreamOffsets: Sendable {
  private(set) var last: [String: Int]

  init(_ last: [String: Int] = [:]) { self.last = last }

  enum Place: Sendable, Hashable {
    case next
    case known
    /// Those after this one are missing.
    case gap(after: Int)
  }

  /// Of a stream that nothing is known of, whatever comes first is the first.
  func place(of offset: Int, in stream: String) -> Place {
    guard let last = last[stream] else { return .next }
    if offset <= last { return .known }
    return offset == last + 1 ? .next : .gap(after: last)
  }

  mutating func took(_ offset: Int, in stream: String) {
    last[stream] = max(offset, last[stream] ?? 0)
  }

  mutating func forgetAll() { last = [:] }
}
