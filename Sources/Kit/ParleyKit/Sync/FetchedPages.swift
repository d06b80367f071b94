// Pages of events and messages, with the position in the event log that they reflect.

public import ParleyJSON
public import ParleyModel

/// The events after a cursor.
public struct EventPage: JSONReadable, Sendable, Hashable {
  /// The events in the order of the log.
  public let events: [ReceivedEvent]
  /// Whether more events follow at once.
  public let hasMore: Bool
  /// The position after the events.
  public let cursor: EventCursor
  /// The reason if the events are not available. The client then verifies its cache.
  public let reset: String?
  /// The requested topics that the user can't subscribe to.
  public let lost: [LiveTopic]

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    events = try object.read("data")
    hasMore = try object.bool("more")
    cursor = try object.read("cursor")
    reset = try object.optional("reset")
    lost = try object.optional("lost") ?? []
  }
}

/// A page of events of one stream.
public struct StreamEventPage: JSONReadable, Sendable, Hashable {
  /// The events in the order of the stream.
  public let events: [ReceivedEvent]
  /// The position of the later events, if there are any.
  public let next: String?
  /// The position of the earlier events that the log still has.
  public let previous: String?
  /// The offset of the stream's newest event.
  public let lastOffset: Int

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    events = try object.read("data")
    next = try object.optional("next")
    previous = try object.optional("previous")
    lastOffset = try object.int("last_offset", in: 0...Int.max)
  }
}

/// A page of messages of a conversation.
struct FetchedMessages: JSONReadable, Sendable {
  let messages: [MessageView]
  /// The position of the next page in the order of the request.
  let next: String?
  let asOf: EventCursor

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    messages = try object.read("data")
    next = try object.optional("next")
    asOf = try object.read("cursor")
  }
}

/// The digests of the parts of a range.
struct FetchedDigest: JSONReadable, Sendable {
  let parts: [ConversationDigest.Part]
  let asOf: EventCursor

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    parts = try object.read("parts")
    asOf = try object.read("cursor")
  }
}
