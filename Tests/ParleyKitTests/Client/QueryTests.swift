import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit
@testable import WebPush

@Suite struct QueryTests {
  private func open(_ site: SocketSite, _ name: String, _ network: CuttableTransport) throws -> Parley {
    try Parley(
      try site.client(name, network), clock: Outbox.Clock(now: TestSite.ticking, pause: { _ in .milliseconds(20) }),
      open: { file in throw TransportFailure.sourceFailed(file.path) }
    ) { MemoryStore() }
  }

  private func payload(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test(
    arguments: [
      (#"{"notification":{"data":{"message_id":"12"}}}"#, 12, nil),
      (#"{"notification":{"title":"Ada","data":{"message_id":"12","revision":3}}}"#, 12, 3),
      (#"{"event":"message.created","id":"9","data":{"id":"12","revision":1,"text":"hello"}}"#, 12, 1),
      (#"{"event":"action.added","id":"9","data":{"message_id":"12","actions":{}}}"#, 12, nil),
      (#"{"event":"notification.created","data":{"id":"9","message_id":"12"}}"#, 12, nil),
    ] as [(String, Int, Int?)])
  func `a payload has a message id`(text: String, id: Int, revision: Int?) throws {
    let read = try MessagePayload(payload(text))
    #expect(read.message == ID(id) && read.revision == revision)
  }

  @Test(
    arguments: [
      "", "[]", "{}", #"{"message_id":"12"}"#, #"{"event":"message.created"}"#, #"{"notification":{"title":"Ada"}}"#,
      #"{"notification":{"data":{"message_id":12}}}"#, #"{"notification":{"data":{"message_id":"-1"}}}"#,
      #"{"notification":{"data":{"kind":"token","message_id":null}}}"#,
    ])
  func `a payload without a message id is refused`(text: String) {
    #expect(throws: ClientFault.self) { try MessagePayload(payload(text)) }
  }

  @Test(arguments: [1, nil] as [Int?])
  func `the content of a push message has a message id`(revision: Int?) throws {
    let content = PushPayload(
      title: "Ada", body: "hello", navigate: "https://example.org/m/12", tag: "c7", badge: 3,
      data: .init(
        notification: "40", kind: "mention", conversation: "7", message: "12", revision: revision, sender: "Ada"))
    let read = try MessagePayload(content.content(isShort: false).json)
    #expect(read.message == ID(12) && read.revision == revision)
  }

  @Test func `the content of a push message without a message is refused`() {
    let content = PushPayload(
      title: "Parley", body: "New sign-in", navigate: "https://example.org/you/signins", tag: "n40", badge: 0,
      data: .init(notification: "40", kind: "sign_in"))
    #expect(throws: ClientFault.self) { try MessagePayload(content.content(isShort: false).json) }
  }

  @Test func `a notification resolves to its message, fetched only if not cached`() async throws {
    try await SocketSite.open { site in
      let grace = try site.client("grace")
      let garden = try await site.group("ada", "grace")
      let network = try CuttableTransport()
      let parley = try open(site, "ada", network)
      try await parley.sync.begin()
      let posted = try await grace.send(.postMessage(in: garden, "one"))
      let notification = payload(
        #"{"event":"message.created","data":{"id":"\#(posted.message.id)","revision":1,"text":"lies"}}"#)
      let message = try await parley.message(ofPayload: notification)
      #expect(message.text == "one" && message.author == posted.message.author)
      #expect(try await parley.cache.messages(.ids([posted.message.id])).count == 1)

      network.cut()
      #expect(try await parley.message(ofPayload: notification).text == "one")
      let later = payload(
        #"{"notification":{"data":{"message_id":"\#(posted.message.id)","revision":2}}}"#)
      await #expect(throws: ClientFault.self) { try await parley.message(ofPayload: later) }
      network.restore()
      _ = try await grace.send(posted.edit("two"))
      #expect(try await parley.message(ofPayload: later).text == "two")
      // The later event keeps the message and updates the unread count.
      try await parley.sync.catchUp()
      #expect(await parley.cache.replica.conversations[garden]?.unread == 1)

      let room = try await site.room()
      let elsewhere = try await site.client("ada").send(.postMessage(in: room, "elsewhere"))
      let there = payload(#"{"notification":{"data":{"message_id":"\#(elsewhere.message.id)"}}}"#)
      #expect(try await parley.message(ofPayload: there).text == "elsewhere")
      await #expect(throws: SyncRefusal.unknownMessage) {
        try await parley.message(ofPayload: payload(#"{"notification":{"data":{"message_id":"999999"}}}"#))
      }
    }
  }

  private func both<Value>(_ answers: CachedThenFresh<Value>) async throws -> [Value] {
    var all: [Value] = []
    for try await answer in answers { all.append(answer.value) }
    return all
  }

  @Test func `SK-40: users by ids are answered from the cache and by one request`() async throws {
    try await ScriptedSite.open { site in
      let server = site.server("grace")
      let parley = try Parley(
        try server.client(), clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open
      ) { MemoryStore() }
      try await parley.sync.begin()
      let (ada, me) = (site.id("ada"), site.id("grace"))
      server.set { $0.requests = [] }
      // A user that does not exist is omitted.
      let fresh = try await parley.users([ada, ID(999_999), me]).fresh()
      #expect(fresh.mapValues(\.summary.name) == [ada: "ada", me: "grace"])
      #expect(server.requests == ["GET /users"])
      server.set { $0.isOffline = true }
      var answers: [CachedOrFresh<[ID<User>: User]>] = []
      await #expect(throws: SiteTransport.noNetwork) {
        for try await answer in parley.users([ada, me]) { answers.append(answer) }
      }
      #expect(answers.map(\.isFresh) == [false])
      #expect(answers.first?.value.mapValues(\.summary.name) == [ada: "ada", me: "grace"])
    }
  }

  @Test func `SK-01: a query is answered from the cache and from the server`() async throws {
    try await SocketSite.open { site in
      let grace = try site.client("grace")
      let me = try await grace.send(.getUser(.me)).summary.id
      let garden = try await site.group("ada", "grace")
      let network = try CuttableTransport()
      let parley = try open(site, "ada", network)
      #expect(try await both(parley.conversations()).last?.map(\.conversation.id) == [garden])
      _ = try await grace.send(.updateUser(.me, UserChange([.set(\.displayName, "Grace H.")])))
      for number in 1...5 { _ = try await grace.send(.postMessage(in: garden, "\(number)")) }

      let user = try await both(parley.user(me))
      #expect(user.last?.summary.displayName == "Grace H.")
      let newest = try await both(parley.messages(in: garden, limit: 2))
      #expect(newest.last?.map(\.text) == ["5", "4"])
      let first = try #require(newest.last?.last?.message)
      #expect(try await both(parley.messages(in: garden, before: first.id, limit: 2)).last?.map(\.text) == ["3", "2"])
      #expect(try await both(parley.forums()).last?.isEmpty == true)

      network.cut()
      for try await answer in parley.messages(in: garden, limit: 2) {
        #expect(!answer.isFresh && answer.value.map(\.text) == ["5", "4"])
        break
      }
      await #expect(throws: ClientFault.self) { try await both(parley.conversations()) }
      network.restore()
      await #expect(throws: SyncRefusal.unknownConversation) { try await both(parley.messages(in: ID(999_999))) }
    }
  }

  @Test func `a query of one entity is answered from the cache and from the server, then stored`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let room = try await site.room()
      let grace = try site.client("grace")
      let parley = try open(site, "linus", try CuttableTransport())
      try await parley.sync.begin()
      let posted = try await site.client("ada").send(.postMessage(in: room, "hello")).message
      #expect(try await parley.conversation(room).fresh().last?.text == "hello")
      #expect(try await both(parley.conversation(room)).map(\.conversation.id).last == room)
      #expect(try await parley.message(posted.id).fresh().text == "hello")
      #expect(try await parley.cache.shown(parley.cache.messages(.ids([posted.id]))).map(\.text) == ["hello"])
      let forums = try await parley.forums().fresh()
      #expect(try await parley.forum(forums[0].forum.id).fresh().forum.title == "garden")
      await #expect(throws: ClientFault.self) { try await parley.conversation(garden).fresh() }
      await #expect(throws: (any Error).self) { try await parley.forum(ID(999_999)).fresh() }
      let secret = try await grace.send(.postMessage(in: garden, "not for linus")).message
      await #expect(throws: SyncRefusal.unknownMessage) { try await parley.message(secret.id).fresh() }
    }
  }

  @Test func `a sent message is returned with the new messages before it`() async throws {
    try await SocketSite.open { site in
      let grace = try site.client("grace")
      let garden = try await site.group("ada", "grace")
      let network = try CuttableTransport()
      let parley = try open(site, "ada", network)
      _ = try await grace.send(.postMessage(in: garden, "0"))
      try await parley.sync.begin()
      try await parley.sync.fetchNewest(in: garden)
      for number in 1...3 { _ = try await grace.send(.postMessage(in: garden, "\(number)")) }
      let made = try await parley.outbox.sendAndWait(Draft("mine"), in: garden)
      #expect(made.map { $0.content?.text } == ["1", "2", "3", "mine"])
      #expect(try await parley.outbox.sendAndWait(Draft("again"), in: garden).map { $0.content?.text } == ["again"])

      network.cut()
      await #expect(throws: ClientFault.self) { try await parley.outbox.sendAndWait(Draft("later"), in: garden) }
      #expect(await parley.outbox.list().map { $0.draft?.text } == ["later"])
      try await parley.outbox.start()
      await #expect(throws: ClientFault.self) { try await parley.outbox.sendAndWait(Draft("later still"), in: garden) }
      network.restore()
      await parley.outbox.networkAvailable()
      try await wait { await parley.outbox.list().isEmpty }
      #expect(try await parley.outbox.sendAndWait(Draft("last"), in: garden).last?.content?.text == "last")
      await parley.outbox.stop()
    }
  }

  @Test func `any call has a form for synchronous code`() async throws {
    let sum = await withCheckedContinuation { done in
      perform {
        1 + 1
      } then: { result in
        done.resume(returning: try? result.get())
      }
    }
    #expect(sum == 2)
    let fault = await withCheckedContinuation { done in
      perform {
        throw ClientFault.timedOut
      } then: { (result: Result<Int, any Error>) in
        if case .failure(let fault) = result { done.resume(returning: fault as? ClientFault) }
      }
    }
    #expect(fault == .timedOut)
  }

  @Test func `every text type is parsed in the same way`() {
    var ada = UserSummary(id: ID(1), name: "ada", role: .member, createdAt: 0)
    ada.bio = "gardens *a lot* with @grace #food"
    #expect(ada.html.contains("<em>a lot</em>") && ada.html == Draft(ada.bio).html)
    #expect(ada.entities.map(\.value) == ["grace", "food"] && ada.entities.map(\.kind) == [.mention, .hashtag])
    #expect(ada.plainText() == "gardens a lot with @grace #food" && ada.plainText(limit: 8).hasSuffix("…"))
    #expect(!Draft("<script>").html.contains("<script>"))
    #expect("ada".asMention == "@ada" && "@ada".asMention == "@ada" && "food".asHashtag == "#food")
  }

  @Test func `reversed bounds are swapped`() {
    let (low, high) = (ID<Message>(5), ID<Message>(9))
    let request = Request<Page<Resource<MessageView>>>.listMessages(in: ID(1), before: low, after: high)
    #expect(
      request.target == Request<Page<Resource<MessageView>>>.listMessages(in: ID(1), before: high, after: low).target)
    #expect(request.target.hasSuffix("?before=9&after=5"))
    #expect(
      Request<Resource<ConversationDigest>>.getDigest(of: ID(1), fromSeq: 9, toSeq: 5).target.hasSuffix(
        "?from_seq=5&to_seq=9"))
    let (noon, night) = (Timestamp(1_000), Timestamp(2_000))
    let times = Request<Page<Resource<MessageView>>>.listMessages(in: ID(1), beforeTime: noon, afterTime: night)
    #expect(times.target.contains("before_time=1970-01-01T00%3A00%3A02.000Z"))
    #expect(times.target.contains("after_time=1970-01-01T00%3A00%3A01.000Z"))
  }
}
