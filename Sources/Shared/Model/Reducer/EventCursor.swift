public import ParleyJSON

/// A position in the event log of a site: all events up to `event` are applied.
public struct EventCursor: Sendable, Hashable {
  /// Changes after a restore; a client then discards its copy.
  public var epoch: String
  public var event: Int

  public init(epoch: String, event: Int) {
    self.epoch = epoch
    self.event = event
  }
}

extension EventCursor: LosslessStringConvertible {
  public init?(_ text: String) {
    guard let dot = text.lastIndex(of: "."), dot > text.startIndex else { return nil }
    let digits = text[text.index(after: dot)...]
    guard digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let event = Int(digits), String(event) == digits else {
      return nil
    }
    self.init(epoch: String(text[..<dot]), event: event)
  }

  public var description: String { "\(epoch).\(event)" }
}

extension EventCursor: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let cursor = EventCursor(try value.string()) else { throw value.error(.invalid) }
    self = cursor
  }

  public func write(to json: inout JSONWriter) { json.value(description) }
}
