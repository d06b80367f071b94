public import ParleyJSON

/// A position in the event log of a site: all events up to `event` are applied.
public struct EventCursor: Sendable, Hashable {
  /// Changes after a restore; a client then discards its copy.
  public var epoch: String
  /// The start of the server that named the position. Empty in cursors of older servers.
  public var start: String
  /// The id of the last applied event; 0 before the first.
  public var event: Int

  /// A cursor of a server's event log.
  public init(epoch: String, start: String, event: Int) {
    self.epoch = epoch
    self.start = start
    self.event = event
  }
}

extension EventCursor {
  /// Whether the ages of the data received up to here may not be comparable with those of a snapshot. A server that has
  /// restarted may go on from an older copy of its data.
  public func isOtherHistory(than snapshot: EventCursor) -> Bool {
    epoch != snapshot.epoch || start != snapshot.start
  }
}

extension EventCursor: LosslessStringConvertible {
  /// Reads `epoch.start.event` or, of older servers, `epoch.event`; nil if the text is not well-formed.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard 2...3 ~= parts.count, let digits = parts.last, !parts.dropLast().contains(where: \.isEmpty),
      digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let event = Int(digits), String(event) == digits
    else { return nil }
    self.init(epoch: String(parts[0]), start: parts.count == 3 ? String(parts[1]) : "", event: event)
  }

  public var description: String { start.isEmpty ? "\(epoch).\(event)" : "\(epoch).\(start).\(event)" }
}

extension EventCursor: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let cursor = EventCursor(try value.string()) else { throw value.error(.invalid) }
    self = cursor
  }

  public func write(to json: inout JSONWriter) { json.value(description) }
}
