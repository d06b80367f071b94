/// The last offset of each stream. Classifies an event as new, duplicate or after a gap.
struct StreamOffsets: Sendable {
  private(set) var last: [String: Int]

  init(_ last: [String: Int] = [:]) { self.last = last }

  enum Order: Sendable, Hashable {
    case next
    case known
    /// The events after this offset are missing.
    case gap(after: Int)
  }

  /// The first event of an unknown stream counts as the next one.
  func order(of offset: Int, in stream: String) -> Order {
    guard let last = last[stream] else { return .next }
    if offset <= last { return .known }
    return offset == last + 1 ? .next : .gap(after: last)
  }

  mutating func record(_ offset: Int, in stream: String) {
    last[stream] = max(offset, last[stream] ?? 0)
  }

  mutating func reset() { last = [:] }
}
