// Realtime over HTTP: server-sent events and long polling. Both read the event log from the client's cursor, a page at
// a time, and wait for a wake-up of a subscribed stream. Events are never queued for them, so a slow client costs at
// most one page.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import PubSub
import Web

extension API {
  /// The maximum wait of `sync`, in seconds.
  static let maxWait = 60
  /// The page size of `sync` and of the event stream.
  private static let page = PageBounds(events: 200)
  /// The heartbeat interval of an idle event stream, in seconds.
  private static let heartbeatInterval: Int64 = 15

  @Sendable static func sync(_ context: RequestContext) async throws -> Response {
    let (topics, after, wait, include) = try context.query { query in
      (
        try query.topics(), try query.text("after"), try query.int("wait", in: 0...maxWait) ?? 0,
        try query.include()
      )
    }
    let live = LoopBroadcasts.of(context)
    let startPoint = context.community.startPoint(after)
    var found = try await live.catchUp(topics, from: startPoint, page, for: context.caller)
    if wait > 0, case .page(let page) = found, page.isQuiet {
      live.start()
      let subscriber = LongPollSubscriber(live, context.caller, until: live.now + Int64(wait) * 1_000)
      defer { subscriber.leave() }
      var first = page
      repeat {
        subscriber.subscribe(first.streams)
        subscriber.pageRequested()
        found = try await live.catchUp(topics, from: .after(first.through), self.page, for: context.caller)
        guard case .page(let page) = found, page.isQuiet else { break }
        first = page
        // Reads again if the page had streams without a subscription: their events may have been missed.
        if subscriber.covers(page.streams) { await subscriber.wait() }
      } while !subscriber.isDone
      if let ban = subscriber.ban { throw ban }
    }
    return try context.syncAnswer(found, including: include)
  }

  @Sendable static func streamEvents(_ context: RequestContext) async throws -> Response {
    let (topics, after) = try context.query { query in (try query.topics(), try query.text("after")) }
    // An empty `Last-Event-ID` counts as missing: a client without events starts at the URL's cursor.
    let last = context.request.fields["last-event-id"].flatMap { $0.isEmpty ? nil : $0 }
    let startPoint = context.community.startPoint(last ?? after)
    let live = LoopBroadcasts.of(context)
    let (community, caller) = (context.community, context.caller)
    // Reads the first page before the response starts, so that a refusal has a status code.
    let first = try await live.catchUp(topics, from: startPoint, page, for: caller)
    if case .page(let page) = first, !topics.isEmpty, page.lost.count == topics.count {
      _ = try caller.requireUser()
      throw Refusal.notFound
    }
    let fields: Fields = [
      "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
    ]
    // The type keeps the closure on the loop. A closure without it runs on the global executor, and its writes wait for
    // the loop's next turn.
    let write: nonisolated(nonsending) (BodyWriter) async throws -> Void = { writer in
      live.start()
      let subscriber = LongPollSubscriber(live, caller, until: nil)
      defer { subscriber.leave() }
      try await Self.write(first, topics, community, live, subscriber, to: writer)
      if case .banned(let until, let reason) = subscriber.ban {
        try await writer.write(ServerSentEvent.bytes(Control.banned(until: until, reason: reason), id: nil))
      }
    }
    return Response(.ok, fields: fields, body: .stream(length: nil, write), isNegotiated: true)
  }

  private static func write(
    _ first: CatchUp, _ topics: [LiveTopic], _ community: Community, _ live: LoopBroadcasts,
    _ subscriber: LongPollSubscriber,
    to writer: BodyWriter
  ) async throws {
    var found = first
    var hasSentComplete = false
    while !subscriber.isDone {
      var position: Int
      var mayWait = false
      switch found {
      case .reset(let reason, let head):
        let cursor = community.cursor(at: head)
        try await writer.write(ServerSentEvent.bytes(Control.reset(reason, cursor), id: cursor))
        (position, hasSentComplete) = (head, true)
      case .page(let page):
        for item in page.items {
          try await writer.write(ServerSentEvent.bytes(item.text, id: community.cursor(at: item.event)))
        }
        position = page.through
        if !page.hasMore, !hasSentComplete {
          hasSentComplete = true
          let cursor = community.cursor(at: position)
          try await writer.write(ServerSentEvent.bytes(Control.complete(cursor, lost: page.lost), id: cursor))
        }
        mayWait = !page.hasMore && subscriber.covers(page.streams)
        subscriber.subscribe(page.streams)
        if subscriber.subscribeSignals(of: topics, except: page.lost) {
          for user in community.hub.present {
            guard !subscriber.isDone else { return }
            // Reads each presence when it is sent: it may have changed during earlier writes.
            guard let presence = community.hub.presence(of: user) else { continue }
            let signal = Signal.presence(user, presence, lastSeenAt: nil)
            try await writer.write(ServerSentEvent.bytes(signal.jsonBytes, id: nil))
          }
        }
      }
      if mayWait {
        subscriber.deadline = live.now + heartbeatInterval * 1_000
        await subscriber.wait()
        let signals = subscriber.takeSignals()
        for signal in signals { try await writer.write(ServerSentEvent.bytes(signal, id: nil)) }
        if signals.isEmpty, subscriber.isPastDeadline { try await writer.write(ServerSentEvent.comment) }
      }
      guard !subscriber.isDone else { return }
      subscriber.pageRequested()
      found = try await live.catchUp(topics, from: .after(position), page, for: subscriber.caller)
    }
  }
}

extension CatchUpPage {
  fileprivate var isQuiet: Bool { items.isEmpty && !hasMore }
}

extension RequestContext {
  fileprivate func syncAnswer(_ found: CatchUp, including include: Set<Include>) throws(Refusal) -> Response {
    let events =
      switch found {
      case .page(let page): page.items.map { EncodedEvent(text: $0.text) }
      case .reset: [EncodedEvent]()
      }
    let included = try included(include, in: events)
    return .object { json in
      json.field("data", events)
      switch found {
      case .page(let page):
        json.field("more", page.hasMore)
        json.field("cursor", community.cursor(at: page.through))
        json.null("reset")
        json.field("lost", page.lost)
      case .reset(let reason, let head):
        json.field("more", false)
        json.field("cursor", community.cursor(at: head))
        json.field("reset", reason.rawValue)
        json.field("lost", [LiveTopic]())
      }
      if let included { json.field("included", included) }
    }
  }
}

/// Encodes events as in https://html.spec.whatwg.org/multipage/server-sent-events.html.
enum ServerSentEvent {
  /// An event with one line of data: the JSON has no line ends.
  static func bytes(_ json: [UInt8], id: String?) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.count + 48)
    if let id {
      bytes.append(contentsOf: "id: ".utf8)
      bytes.append(contentsOf: id.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
    bytes.append(contentsOf: "data: ".utf8)
    bytes.append(contentsOf: json)
    bytes.append(contentsOf: "\n\n".utf8)
    return bytes
  }

  static let comment = Array(": \n\n".utf8)
}
