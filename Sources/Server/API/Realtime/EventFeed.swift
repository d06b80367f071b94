// Realtime over HTTP: server-sent events and long polling. Both read the log from the client's
// cursor, a page at a time, and wait until something happens in what they follow: what is on its way is never kept for
// them, so that somebody slow costs a page and no more.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import PubSub
import Web

extension API {
  /// How long `sync` waits at most, in seconds.
  static let longestWait = 60
  /// What one answer of `sync` holds.
  private static let page = PageBounds(events: 200)
  /// Seconds after which a silent feed says that it is alive.
  private static let silence: Int64 = 15

  @Sendable static func sync(_ context: RequestContext) async throws -> Response {
    let (topics, after, wait) = try context.query { query in
      (try query.topics(), try query.text("after"), try query.int("wait", in: 0...longestWait) ?? 0)
    }
    let live = LiveLoop.of(context)
    let startPoint = context.community.startPoint(after)
    var found = try await live.catchUp(topics, from: startPoint, page, for: context.caller)
    if wait > 0, case .page(let page) = found, page.isQuiet {
      live.start()
      let watcher = Watcher(live, context.caller, until: live.now + Int64(wait) * 1_000)
      defer { watcher.leave() }
      var first = page
      repeat {
        watcher.subscribe(first.streams)
        watcher.reads()
        found = try await live.catchUp(topics, from: .after(first.through), self.page, for: context.caller)
        guard case .page(let page) = found, page.isQuiet else { break }
        first = page
        // What was not followed when it was read is read once more.
        if watcher.covers(page.streams) { await watcher.wait() }
      } while !watcher.isDone
    }
    return context.syncAnswer(found)
  }

  @Sendable static func streamEvents(_ context: RequestContext) async throws -> Response {
    let (topics, after) = try context.query { query in (try query.topics(), try query.text("after")) }
    // As an empty one a feed has none: a client that has seen nothing is where its address says.
    let last = context.request.fields["last-event-id"].flatMap { $0.isEmpty ? nil : $0 }
    let startPoint = context.community.startPoint(last ?? after)
    let live = LiveLoop.of(context)
    let (community, caller) = (context.community, context.caller)
    // Who may follow nothing of it is told so in time.
    let first = try await live.catchUp(topics, from: startPoint, page, for: caller)
    if case .page(let page) = first, !topics.isEmpty, page.lost.count == topics.count {
      throw caller.user == nil ? Refusal.unauthenticated : Refusal.notFound
    }
    let fields: Fields = [
      "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
    ]
    // Said here: a closure that is given no type runs wherever there is a thread, and what it writes waits for the next turn
    // of the loop that it left.
    let write: nonisolated(nonsending) (BodyWriter) async throws -> Void = { writer in
      live.start()
      let watcher = Watcher(live, caller, until: nil)
      defer { watcher.leave() }
      try await Self.write(first, topics, community, live, watcher, to: writer)
    }
    return Response(.ok, fields: fields, body: .stream(length: nil, write), isNegotiated: true)
  }

  private static func write(
    _ first: CatchUp, _ topics: [LiveTopic], _ community: Community, _ live: LiveLoop, _ watcher: Watcher,
    to writer: BodyWriter
  ) async throws {
    var found = first
    var isTold = false
    while !watcher.isDone {
      var position: Int
      var mayWait = false
      switch found {
      case .reset(let reason, let head):
        let cursor = community.cursor(at: head)
        try await writer.write(ServerSentEvent.bytes(Control.reset(reason, cursor), id: cursor))
        (position, isTold) = (head, true)
      case .page(let page):
        for item in page.items {
          try await writer.write(ServerSentEvent.bytes(item.text, id: community.cursor(at: item.event)))
        }
        position = page.through
        if !page.hasMore, !isTold {
          isTold = true
          let cursor = community.cursor(at: position)
          try await writer.write(ServerSentEvent.bytes(Control.complete(cursor, lost: page.lost), id: cursor))
        }
        mayWait = !page.hasMore && watcher.covers(page.streams)
        watcher.subscribe(page.streams)
        if watcher.followSignals(of: topics, except: page.lost) {
          for user in community.hub.present {
            guard !watcher.isDone else { return }
            // It takes a while to tell of many: what changed meanwhile is not told as it was.
            guard let presence = community.hub.presence(of: user) else { continue }
            let signal = Signal.presence(user, presence, lastSeenAt: nil)
            try await writer.write(ServerSentEvent.bytes(signal.jsonBytes, id: nil))
          }
        }
      }
      if mayWait {
        watcher.deadline = live.now + silence * 1_000
        await watcher.wait()
        let signals = watcher.takeSignals()
        for signal in signals { try await writer.write(ServerSentEvent.bytes(signal, id: nil)) }
        if signals.isEmpty, watcher.isLate { try await writer.write(ServerSentEvent.comment) }
      }
      guard !watcher.isDone else { return }
      watcher.reads()
      found = try await live.catchUp(topics, from: .after(position), page, for: watcher.caller)
    }
  }
}

extension CatchUpPage {
  fileprivate var isQuiet: Bool { items.isEmpty && !hasMore }
}

extension RequestContext {
  fileprivate func syncAnswer(_ found: CatchUp) -> Response {
    .object { json in
      switch found {
      case .page(let page):
        json.field("data", page.items.map { JSONRaw(trusted: $0.text) })
        json.field("more", page.hasMore)
        json.field("cursor", community.cursor(at: page.through))
        json.null("reset")
        json.field("lost", page.lost)
      case .reset(let reason, let head):
        json.field("data", [JSONRaw]())
        json.field("more", false)
        json.field("cursor", community.cursor(at: head))
        json.field("reset", reason.rawValue)
        json.field("lost", [LiveTopic]())
      }
    }
  }
}

/// As https://html.spec.whatwg.org/multipage/server-sent-events.html has it.
enum ServerSentEvent {
  /// JSON has no line ends, so one line of data is enough.
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
