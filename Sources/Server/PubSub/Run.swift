public import ParleyModel

/// Events of one stream that are told one after the other, put together once for all who get each of them as it is.
public final class Run {
  public let publications: [Publication]
  public let stream: EventStream
  public let first: Event
  let last: Event
  /// All of them as messages of a WebSocket.
  public let framed: [UInt8]
  /// The same, compressed where that makes them shorter; nil where it does so for none.
  public let deflated: [UInt8]?
  /// Most have the same rights.
  private var answered: (reader: StreamReader, isOpen: Bool)?

  /// Nil for fewer than two.
  init?(of stream: EventStream, _ publications: [Publication]) {
    guard publications.count > 1, let first = publications.first?.event,
      let last = publications.last?.event
    else { return nil }
    self.publications = publications
    self.stream = stream
    self.first = first
    self.last = last
    framed = publications.flatMap(\.frame.framed)
    let isDeflated = publications.contains { $0.frame.deflated != nil }
    deflated = isDeflated ? publications.flatMap(\.frame.shortest) : nil
  }

  /// Whether somebody who follows the stream gets all of it as it is.
  func isOpen(to reader: StreamReader) -> Bool {
    if let answered, answered.reader == reader { return answered.isOpen }
    let isOpen = publications.allSatisfy { $0.delivered.isOpen(to: reader) }
    answered = (reader, isOpen)
    return isOpen
  }
}
