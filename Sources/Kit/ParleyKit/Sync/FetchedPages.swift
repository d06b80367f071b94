// Pages of what happened, and of what was said, with the place in the log up to which they know of everything.

public import ParleyJSON
public import ParleyModel

/// What has happened since a cursor.
public struct EventPage: JSONReadable, Sendable, Hashable {
  public let events: [ReceivedEvent]
  public let hasMore: Bool
  public let cursor: EventCursor
  /// Why it can't be said: then whatever is held is to be compared.
  public let reset: String?
  /// Of the topics that were asked for, those that are not there for this person.
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

/// Events of one stream.
public struct StreamPage: JSONReadable, Sendable, Hashable {
  public let events: [ReceivedEvent]
  public let hasMore: Bool
  /// Of the newest event that there is.
  public let lastOffset: Int

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    events = try object.read("data")
    hasMore = try object.bool("more")
    lastOffset = try object.int("last_offset", in: 0...Int.max)
  }
}

/// A page of a conversation.
struct FetchedMessages: JSONReadable, Sendable {
  let messages: [SeenMessage]
  let hasMore: Bool
  let asOf: EventCursor

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    messages = try object.read("data")
    hasMore = try object.bool("more")
    asOf = try object.read("cursor")
  }
}
