import Foundation
import ParleyModel
import ParleyNetworking
import ParleyWire
import PubSub
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct EventFeedTests {
  @Test(arguments: TestTransport.allCases)
  func `a request without a cursor returns one, and with it the events since then`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      try await village.post("before", in: room)
      let path = "/sync?topics=me,conversation:\(room)"
      let start = try await village.request(.get, path, as: "grace")
      #expect(start.count("data") == 0 && start.bool("more") == false && start.isNull("reset"))
      let id = try await village.post("after", in: room)
      let page = try await village.request(.get, "\(path)&after=\(start["cursor"] ?? "")", as: "grace")
      #expect(page.texts("data", "event") == ["message.created"] && page["data.0.data.id"] == id)
      let end = try await village.request(.get, "\(path)&after=\(page["cursor"] ?? "")", as: "grace")
      #expect(end.count("data") == 0 && end["cursor"] == page["cursor"])
      for query in ["topics=all", "after=1&limit=2", "wait=61", "wait=-1", "topics=me,,me"] {
        #expect(try await village.request(.get, "/sync?\(query)", as: "grace").status == 400, "\(query)")
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a user's subscription includes their own feed`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (mine, other) = (try await village.cursor(as: "grace"), try await village.cursor(as: "linus"))
      let feed = try #require(try await village.request(.post, "/conversations", as: "grace", ["kind": "feed"])["id"])
      let id = try await village.post("my day", in: feed, as: "grace")
      let page = try await village.request(.get, "/sync?topics=me&after=\(mine)", as: "grace")
      #expect(page.texts("data", "event") == ["conversation.created", "conversation.created", "message.created"])
      #expect(page.texts("data", "stream").last == "conversation:\(feed)" && page["data.2.data.id"] == id)
      #expect(try await village.request(.get, "/sync?topics=me&after=\(other)", as: "linus").count("data") == 0)
    }
  }

  @Test func `unreadable topics are reported lost, and the rest is delivered`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, open) = try await village.garden("open", "public")
      let (secret, closed) = try await village.garden("secret", "private")
      let topics = "me,conversation:\(open),conversation:\(closed),forum:\(secret),presence,app:x"
      let start = try await village.request(.get, "/sync?topics=\(topics)", as: nil)
      let lost = ["app:x", "conversation:\(closed)", "forum:\(secret)", "me", "presence"]
      #expect(
        start.status == 200 && start.text.contains(#""lost":["app:x","conversation:\#(closed)","#), "\(start.text)")
      #expect(start.count("lost") == lost.count)
      try await village.post("for all", in: open)
      try await village.post("for few", in: closed)
      let page = try await village.request(.get, "/sync?topics=\(topics)&after=\(start["cursor"] ?? "")", as: nil)
      #expect(page.count("data") == 1 && page["data.0.data.text"] == "for all")
    }
  }

  @Test func `subscription permissions of each topic`() async throws {
    try await Village.open(.inMemory) { village in
      let (open, openRoom) = try await village.garden("open", "public")
      let (ours, ourRoom) = try await village.garden("ours", "members")
      let (mine, myRoom) = try await village.garden("mine", "private", members: ["gus"])
      let conversation = try await village.conversation(.direct, ["ada", "linus"])
      let callers = [nil, "gus", "robo", "linus", "mira", "ada"]
      for (topic, expected) in [
        ("me", "011111"), ("forum:\(open)", "111111"), ("conversation:\(openRoom)", "111111"),
        ("forum:\(ours)", "001111"), ("conversation:\(ourRoom)", "001111"), ("forum:\(mine)", "010001"),
        ("conversation:\(myRoom)", "010001"), ("conversation:\(conversation)", "000101"),
        ("conversation:\(open)", "000000"),
        ("forum:\(conversation)", "000000"), ("presence", "001111"), ("app:chess", "001111"),
      ] {
        for (caller, digit) in zip(callers, expected) {
          let page = try await village.request(.get, "/sync?topics=\(topic)", as: caller)
          let isFollowed = page.status == 200 && page.count("lost") == 0
          #expect(isFollowed == (digit == "1"), "\(topic) \(caller ?? "nobody"): \(page.text)")
        }
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a long poll returns on the first event or at its timeout`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      let cursor = try await village.cursor("conversation:\(room)", as: "grace")
      let path = "/sync?topics=conversation:\(room)&after=\(cursor)&wait=30"
      async let waiting = village.request(.get, path, as: "grace")
      try await village.waitForSubscriber(of: room)
      let id = try await village.post("now", in: room)
      #expect(try await waiting["data.0.data.id"] == id)
      async let idle = village.request(.get, "/sync?topics=conversation:\(room)&wait=30", as: "linus")
      // The test controls the hub's clock.
      let time = Task {
        var now: Int64 = 4_000_000_000_000
        while !Task.isCancelled {
          now += 31_000
          village.community.hub.tick(now: now, wall: now)
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      let answer = try await idle
      time.cancel()
      #expect(answer.status == 200 && answer.count("data") == 0)
    }
  }

  @Test func `server-sent events resume at the last event id`() async throws {
    try await Village.open(.socket) { village in
      let (_, room) = try await village.garden("garden", "public")
      try await village.post("one", in: room)
      let cursor = try await village.cursor("conversation:\(room)", as: nil)
      try await village.post("two", in: room)
      let address = try #require(village.serverAddress)
      let feed = try Feed(address, "\(API.base)/events?topics=conversation:\(room)", lastEventID: cursor)
      let first = try await feed.next()
      let id = first.data["id"].flatMap { Int($0) }.map { village.community.store.cursor(at: $0) }
      #expect(first.data["data.text"] == "two" && first.id == id)
      let complete = try await feed.next()
      #expect(complete.data["event"] == "complete" && complete.id == complete.data["cursor"])
      for number in 0..<20 { try await village.post("\(number)", in: room) }
      for number in 0..<20 { #expect(try await feed.next().data["data.text"] == "\(number)") }
      let elsewhere = try Feed(address, "\(API.base)/events?topics=conversation:\(room)&after=x.1", lastEventID: nil)
      #expect(try await elsewhere.next().data["reason"] == "epoch")
      try await village.post("last", in: room)
      #expect(try await elsewhere.next { $0.data["data.text"] == "last" }.data["event"] == "message.created")
      // An empty header is ignored.
      let again = try Feed(
        address, "\(API.base)/events?topics=conversation:\(room)&after=\(cursor)", lastEventID: "")
      #expect(try await again.next().data["data.text"] == "two")
      #expect(try await village.request(.get, "/events?topics=me").status == 401)
      #expect(try await village.request(.get, "/events?topics=conversation:999999", as: "grace").status == 404)
    }
  }

  @Test func `an event stream ends with its session`() async throws {
    try await Village.open(.socket) { village in
      let address = try #require(village.serverAddress)
      let feed = try Feed(address, "\(API.base)/events?topics=me", lastEventID: nil, token: village.token("grace"))
      #expect(try await feed.next().data["event"] == "complete")
      #expect(try await village.request(.delete, "/sessions/current", as: "grace").status == 204)
      await #expect(throws: LineClient.NoResponse.self) { _ = try await feed.next() }
    }
  }

  @Test func `a banned user learns the end and the reason from an event stream and a long poll`() async throws {
    try await Village.open(.socket) { village in
      let until = "2099-01-01T00:00:00.000Z"
      let address = try #require(village.serverAddress)
      async let waiting = village.request(.get, "/sync?topics=me&wait=30", as: "grace")
      // A long poll that came after the ban would be refused without its reason.
      let end = ContinuousClock.now + .seconds(60)
      while !village.community.hub.hasAudience(.stream(.user(village.user("grace")))), .now < end {
        try await Task.sleep(for: .milliseconds(2))
      }
      let feed = try Feed(address, "\(API.base)/events?topics=me", lastEventID: nil, token: village.token("grace"))
      #expect(try await feed.next().data["event"] == "complete")
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", ["until": until, "reason": "Spam."])
      let banned = try await feed.next { $0.data["event"] == "banned" }
      #expect(banned.id == nil && banned.data["until"] == until && banned.data["reason"] == "Spam.")
      await #expect(throws: LineClient.NoResponse.self) { _ = try await feed.next() }
      let answer = try await waiting
      #expect(answer.status == 403 && answer["params.until"] == until, "\(answer.text)")
      #expect(answer["params.reason"] == "Spam.")
    }
  }

  @Test func `a revoked session can't catch up`() async throws {
    try await Village.open(.inMemory) { village in
      let caller = try #require(try village.community.view().authenticate(village.token("grace")))
      _ = try await village.community.catchUp([.me], from: .head, PageBounds(events: 1), for: caller)
      #expect(try await village.request(.delete, "/sessions/current", as: "grace").status == 204)
      await #expect(throws: Refusal.unauthenticated) {
        _ = try await village.community.catchUp([.me], from: .head, PageBounds(events: 1), for: caller)
      }
      await #expect(throws: Refusal.unauthenticated) {
        _ = try await village.community.listStreamEvents(in: .site, after: 0, PageRequest(limit: 1), for: caller)
      }
    }
  }

  @Test func `event streams carry presence`() async throws {
    try await Village.open(.socket) { village in
      let linus = try village.connect("topics=presence", as: "linus")
      #expect(try await linus.event("presence")["data.user_id"] == village.id("linus"))
      let address = try #require(village.serverAddress)
      let path = "\(API.base)/events?topics=presence"
      let feed = try Feed(address, path, lastEventID: nil, token: village.token("grace"))
      let received = try await feed.next { $0.data["event"] == "presence" }
      #expect(received.data["data.user_id"] == village.id("linus") && received.data["data.presence"] == "online")
      let mira = try village.connect(as: "mira")
      #expect(try await feed.next { $0.data["event"] == "presence" }.data["data.user_id"] == village.id("mira"))
      mira.leave()
    }
  }

  @Test func `a long poll withholds typing signals while permissions may have changed`() async throws {
    try await Village.open(.inMemory) { village in
      let community = village.community
      let caller = try #require(try community.view().authenticate(village.token("grace")))
      let subscriber = LongPollSubscriber(
        LoopBroadcasts(community, community.view()), caller, until: nil)
      let streams = [EventStream.conversation(ID(1)): SubscribedStream(StreamReader(.member), .own)]
      let linus = ID<User>(Int(village.id("linus")) ?? 0)
      func queuedCount(_ signal: Signal) -> Int {
        subscriber.receive(signal, community.hub.makeFrame(signal.jsonBytes))
        return subscriber.takeSignals().count
      }
      let typing = Signal.typing(ID(1), by: linus, isTyping: true)
      subscriber.subscribe(streams)
      #expect(queuedCount(typing) == 1)
      subscriber.accessChanged(.user(linus))
      #expect(queuedCount(typing) == 0 && queuedCount(.presence(linus, .online, lastSeenAt: nil)) == 1)
      // The page of this subscription was requested before.
      subscriber.subscribe(streams)
      #expect(queuedCount(typing) == 0)
      subscriber.pageRequested()
      subscriber.subscribe(streams)
      #expect(queuedCount(typing) == 1)
      // Queued signals of a lost stream are dropped.
      subscriber.receive(typing, community.hub.makeFrame(typing.jsonBytes))
      subscriber.pageRequested()
      subscriber.subscribe([:])
      #expect(subscriber.takeSignals().isEmpty)
      subscriber.leave()
    }
  }
}

/// A client of server-sent events.
private final class Feed {
  struct Event {
    let id: String?
    let data: Answer
  }

  private let client: LineClient

  init(_ address: SocketAddress, _ path: String, lastEventID: String?, token: String? = nil) throws {
    var fields = Fields()
    if let lastEventID { fields.add("Last-Event-ID", lastEventID) }
    if let token { fields.add("Authorization", "Bearer \(token)") }
    client = try LineClient(address, path, fields)
  }

  func next(_ isWanted: (Event) -> Bool = { _ in true }) async throws -> Event {
    var id: String?
    while true {
      let line = try await client.line()
      if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
      guard line.hasPrefix("data: ") else { continue }
      try check(id, String(line.dropFirst(6)))
      let event = Event(
        id: id, data: Answer(status: 200, fields: Fields(), body: Array(line.dropFirst(6).utf8)))
      if isWanted(event) { return event }
    }
  }

  /// Compares a message with the description, whose schema of an event stream is that of one message, and its data with the frames
  /// of the WebSocket.
  private func check(_ id: String?, _ data: String) throws {
    guard let description = Description.shipped else { return }
    let operation = try description.operation(.get, "/events")
    let schema = operation?["responses"]?["200"]?["content"]?["text/event-stream"]?["schema"] ?? .null
    var message: [String: Tree] = ["data": .string(data)]
    message["id"] = id.map { .string($0) }
    try description.check(.object(message), schema, at: "a message of /events")
    try FrameDescription.shipped?.check(data, answering: nil)
  }
}
