public import ParleyJSON

/// An entry with the message that it is about, as its owner sees it.
public struct SeenInboxEntry: Sendable, Hashable {
  public let entry: InboxEntry
  public let message: SeenMessage?

  public init(_ entry: InboxEntry, _ message: SeenMessage?) {
    self.entry = entry
    self.message = message
  }
}

extension SeenInboxEntry: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      entry.writeFields(to: &json)
      json.field("message", message)
    }
  }
}
