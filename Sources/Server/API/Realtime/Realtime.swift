import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func openRealtime(_ context: RequestContext) async throws -> Response {
    let (topics, after) = try context.query { query in (try query.topics(), try query.text("after")) }
    let caller = try context.socketCaller()
    let live = LoopBroadcasts.of(context)
    let (api, id, site, address) = (context.api, context.server.id, context.server.origin, context.server.client)
    let upgrade = WebSocketUpgrade(
      options: RealtimeSocket.options(for: caller), subprotocols: [RealtimeSocket.subprotocol]
    ) { socket in
      RealtimeSocket(
        socket,
        RealtimeSocket.Origin(
          api: api, id: id, site: site, address: address, caller: caller, topics: topics, after: after),
        live)
    }
    return Response(.switchingProtocols, body: .webSocket(upgrade))
  }
}

extension RequestContext {
  /// The caller of a WebSocket. Browsers send the cookie from pages of any origin, so a cookie requires our own origin.
  /// Browsers can't set headers either, so a read-only token is accepted as a subprotocol.
  fileprivate func socketCaller() throws -> Caller {
    if caller.user != nil {
      guard request.fields.has("authorization") || request.fields["origin"].map(server.isOwnOrigin) == true else {
        api.hints.examineForeignOrigin(request.fields, server)
        throw Problem.foreignOrigin
      }
      return caller
    }
    let prefix = RealtimeSocket.tokenPrefix
    let tokens = request.fields.list("sec-websocket-protocol").filter { $0.hasPrefix(prefix) }
    guard let token = tokens.first else { return caller }
    guard tokens.count == 1,
      let known = try view.authenticate(String(token.dropFirst(prefix.count)), from: server.networkText),
      known.scope == .read
    else { throw Problem.unauthenticated }
    return known
  }
}

extension Query {
  /// The comma-separated `topics`.
  mutating func topics() throws(Refusal) -> [LiveTopic] {
    guard let text = try text("topics"), !text.isEmpty else { return [] }
    var topics: [LiveTopic] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let topic = LiveTopic(String(part)) else { return refuse("topics", .invalid) ?? [] }
      guard topics.count < RealtimeCommand.maxTopics else {
        return refuse("topics", .tooMany(limit: RealtimeCommand.maxTopics)) ?? []
      }
      if !topics.contains(topic) { topics.append(topic) }
    }
    return topics
  }
}

/// Control messages, sent beside events and answers.
enum Control {
  /// Tells the client that no events of this stream follow until it subscribes again.
  static func lagging(_ stream: EventStream, lastOffset: Int) -> [UInt8] {
    object { json in
      json.field("event", "lagging")
      json.field("stream", stream.description)
      json.field("last_offset", lastOffset)
    }
  }

  /// Precedes the events after a cursor of an earlier start. The new cursor has the same event and the current start.
  static func restarted(_ cursor: String) -> [UInt8] {
    object { json in
      json.field("event", "restarted")
      json.field("cursor", cursor)
    }
  }

  static func complete(_ cursor: String, lost: [LiveTopic]) -> [UInt8] {
    object { json in
      json.field("event", "complete")
      json.field("cursor", cursor)
      if !lost.isEmpty { json.field("lost", lost) }
    }
  }

  static func reset(_ reason: ResetReason, _ cursor: String, lost: [LiveTopic] = []) -> [UInt8] {
    object { json in
      json.field("event", "reset")
      json.field("reason", reason.rawValue)
      json.field("cursor", cursor)
      if !lost.isEmpty { json.field("lost", lost) }
    }
  }

  /// Tells the client that it has lost access to a subscribed topic.
  static func lost(_ topic: LiveTopic) -> [UInt8] {
    object { json in
      json.field("event", "notice")
      json.field("code", "lost")
      json.field("topic", topic)
    }
  }

  /// Tells the client why its session ends.
  static func banned(until: Int64?, reason: String?) -> [UInt8] {
    object { json in
      json.field("event", "banned")
      json.field("until", until.map { Timestamp($0) })
      json.field("reason", reason)
    }
  }

  private static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object(members)
    return json.bytes
  }
}
