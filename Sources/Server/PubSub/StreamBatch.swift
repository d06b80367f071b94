public import ParleyModel

/// Consecutive events of one stream, concatenated once for all subscribers that receive every event unreduced.
public final class StreamBatch {
  public let publications: [Publication]
  public let stream: EventStream
  public let first: Event
  let last: Event
  /// All events with their cursors as WebSocket messages.
  public let framed: [UInt8]
  /// The same, each message compressed if that makes it shorter. Nil if no message is compressed.
  public let deflated: [UInt8]?
  /// The last result of `isOpen`. Most subscribers have the same rights.
  private var cachedResult: (reader: StreamReader, isOpen: Bool)?

  /// Nil for fewer than two publications.
  init?(of stream: EventStream, _ publications: [Publication]) {
    guard publications.count > 1, let first = publications.first?.event,
      let last = publications.last?.event
    else { return nil }
    self.publications = publications
    self.stream = stream
    self.first = first
    self.last = last
    let frames = publications.map(\.frames.withCursor)
    framed = frames.flatMap(\.framed)
    deflated = frames.contains { $0.deflated != nil } ? frames.flatMap(\.shortest) : nil
  }

  /// Whether the reader receives every event unreduced.
  func isOpen(to reader: StreamReader) -> Bool {
    if let cachedResult, cachedResult.reader == reader { return cachedResult.isOpen }
    let isOpen = publications.allSatisfy { $0.delivered.isOpen(to: reader) }
    cachedResult = (reader, isOpen)
    return isOpen
  }
}
