import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func openRealtime(_ context: RequestContext) async throws -> Response {
    let (topics, after) = try context.query { query in (try query.topics(), try query.text("after")) }
    let caller = try context.socketCaller()
    let live = LiveLoop.of(context)
    let (api, id, address, now) = (context.api, context.server.id, context.server.client, context.server.now)
    let upgrade = WebSocketUpgrade(
      options: RealtimeSocket.options, subprotocols: [RealtimeSocket.subprotocol]
    ) { socket in
      RealtimeSocket(
        socket, RealtimeSocket.Origin(api: api, id: id, address: address, caller: caller, topics: topics, after: after),
        live, now: now)
    }
    return Response(.switchingProtocols, body: .webSocket(upgrade))
  }
}

extension RequestContext {
  /// Who opens a socket. A browser sends the cookie whichever page asks, so with it alone the page has to be ours; and it
  /// can't set a header, so a token that only reads may stand among the subprotocols.
  fileprivate func socketCaller() throws -> Caller {
    if caller.user != nil {
      guard request.fields.has("authorization") || request.fields["origin"].map(server.isOwnOrigin) == true else {
        throw Problem.foreignOrigin
      }
      return caller
    }
    let prefix = RealtimeSocket.tokenPrefix
    let tokens = request.fields.list("sec-websocket-protocol").filter { $0.hasPrefix(prefix) }
    guard let token = tokens.first else { return .visitor }
    guard tokens.count == 1, let known = try view.authenticate(String(token.dropFirst(prefix.count))),
      known.scope == .read
    else { throw Problem.unauthenticated }
    return known
  }
}

extension Query {
  /// A list with commas.
  mutating func topics() throws(Refusal) -> [LiveTopic] {
    guard let text = try text("topics"), !text.isEmpty else { return [] }
    var topics: [LiveTopic] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let topic = LiveTopic(String(part)) else { throw .invalid("topics", .invalid) }
      guard topics.count < RealtimeCommand.maxTopics else {
        throw .invalid("topics", .tooMany(limit: RealtimeCommand.maxTopics))
      }
      if !topics.contains(topic) { topics.append(topic) }
    }
    return topics
  }
}

/// What a client is told beside events and answers.
enum Control {
  /// Nothing more of this stream is sent until the client asks for it again.
  static func lagging(_ stream: EventStream, lastOffset: Int) -> [UInt8] {
    object { json in
      json.field("event", "lagging")
      json.field("stream", stream.description)
      json.field("last_offset", lastOffset)
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

  /// A topic is there no longer for who followed it.
  static func lost(_ topic: LiveTopic) -> [UInt8] {
    object { json in
      json.field("event", "notice")
      json.field("code", "lost")
      json.field("topic", topic)
    }
  }

  private static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object(members)
    return json.bytes
  }
}
