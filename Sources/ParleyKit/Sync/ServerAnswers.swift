// What the server answers to the few calls that keep a copy equal to it.

import JSON
import Model

/// A page of a conversation.
struct FetchedMessages: JSONReadable {
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

/// What has happened since a cursor.
struct FetchedEvents: JSONReadable {
  let events: [ReceivedEvent]
  let hasMore: Bool
  let cursor: EventCursor
  /// Why it can't be said.
  let reset: String?

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    events = try object.read("data")
    hasMore = try object.bool("more")
    cursor = try object.read("cursor")
    reset = try object.optional("reset")
  }
}

/// Events of one stream.
struct FetchedStream: JSONReadable {
  let events: [ReceivedEvent]
  let hasMore: Bool

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    events = try object.read("data")
    hasMore = try object.bool("more")
  }
}

/// A page of a list.
struct FetchedPage<Element: JSONReadable>: JSONReadable {
  let elements: [Element]
  let next: String?

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    elements = try object.read("data")
    next = try object.bool("more") ? try object.optional("next") : nil
  }
}

/// How much waits for a person.
struct FetchedInbox: JSONReadable {
  let unread: InboxCounts

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    unread = try object.read("unread")
  }
}

/// What the server has of a stretch.
struct FetchedDigest: JSONReadable {
  struct Part: JSONReadable {
    let seqs: ClosedRange<Int>
    let digest: String

    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      let (first, last) = (try object.int("from_seq", in: 1...Int.max), try object.int("to_seq", in: 1...Int.max))
      guard first <= last else { throw value.error(.invalid) }
      seqs = first...last
      digest = try object.string("digest")
    }
  }

  let parts: [Part]
  let asOf: EventCursor

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    parts = try object.read("parts")
    asOf = try object.read("cursor")
  }
}
