import Foundation
import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import PubSub
@testable import Storage

/// Limits per client, and the lifetime of its session.
@Suite struct RealtimeBoundsTests {
  @Test func `a revoked session closes its socket, even without subscriptions`() async throws {
    try await Village.open(.socket) { village in
      let sockets = try (0..<4).map { _ in try village.connect(as: "grace") }
      for socket in sockets { #expect(try await socket.request(["do": "ping"]).bool("ok") == true) }
      #expect(try await village.request(.delete, "/sessions/current", as: "grace").status == 204)
      for socket in sockets { #expect(try await socket.closed().code == 4501) }
    }
  }

  @Test func `an expired token closes its sockets`() async throws {
    let clock = StoppedClock()
    try await Village.open(.socket, clock: clock.read) { village in
      let end = Timestamp.format(Int(clock.read() + 60_000))
      let made = try await village.request(
        .post, "/me/tokens", as: "grace", ["name": "for a minute", "scope": "read", "expires_at": end])
      let token = try #require(made["token"], "\(made.text)")
      let socket = try village.connect("topics=me", as: nil, fields: ["Authorization": "Bearer \(token)"])
      _ = try await socket.event("complete")
      let housekeeping = Housekeeping(village.community.store)
      await housekeeping.tick()
      #expect(try await socket.request(["do": "ping"]).bool("ok") == true)
      clock.add(60_001)
      await housekeeping.tick()
      #expect(try await socket.closed().code == 4501)
    }
  }

  @Test func `hello during a read for a visitor is answered in order`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden("garden", "public").room
      let socket = try village.connect(as: nil)
      let topics = #""topics":["conversation:\#(room)"]"#
      socket.send(#"{"id":1,"do":"subscribe",\#(topics)}"#)
      socket.send(#"{"id":2,"do":"hello","token":"\#(village.token("grace"))",\#(topics)}"#)
      let answers = [try await socket.next { $0.has("re") }, try await socket.next { $0.has("re") }]
      #expect(answers.map { $0.int("re") } == [1, 2] && answers[1].bool("complete") == true)
      #expect(answers[0].bool("complete") == true || answers[0]["problem.code"] == "conflict")
      let id = try await village.post("hello", in: room)
      #expect(try await socket.event("message.created")["data.id"] == id)
      #expect(try await socket.request(["do": "ping"]).bool("ok") == true)
    }
  }

  @Test func `the number of topics per socket is limited`() async throws {
    try await Village.open(.socket) { village in
      let linus = try village.connect(as: "linus")
      let limit = SubscriptionState.maxTopics
      let names = (0..<limit).map { "app:\($0)" }
      #expect(try await linus.request(["do": "subscribe", "topics": names]).bool("complete") == true)
      let more = try await linus.request(["do": "subscribe", "topics": ["me"]])
      #expect(more["problem.code"] == "invalid" && more["problem.errors.0.code"] == "too_many", "\(more.text)")
      #expect(try await linus.request(["do": "subscribe", "topics": ["app:0"]]).bool("complete") == true)
      #expect(try await linus.request(["do": "unsubscribe", "topics": ["app:0"]]).bool("ok") == true)
      #expect(try await linus.request(["do": "subscribe", "topics": ["me"]]).bool("complete") == true)
      let received = try await linus.request(["do": "publish", "topic": "app:999", "data": 1])
      #expect(received.bool("ok") == true)
      #expect(try await linus.event("app")["topic"] == "app:999")
    }
  }

  @Test func `too many commands are refused, per socket and per user`() async throws {
    var rates = Village.unlimited
    rates.signalling = Allowance(burst: 3, perMinute: 1)
    try await Village.open(.socket, rates: rates) { village in
      let sockets = try (0..<2).map { _ in try village.connect(as: "linus") }
      for socket in sockets {
        #expect(try await socket.request(["do": "publish", "topic": "app:x", "data": 1]).bool("ok") == true)
      }
      #expect(try await sockets[0].request(["do": "presence", "state": "away"]).bool("ok") == true)
      let received = try await sockets[1].request(["do": "publish", "topic": "app:x", "data": 1])
      #expect(received["problem.code"] == "rate_limited", "\(received.text)")
      // The clock is stopped, so no token is refilled.
      let burst = RealtimeLimits.commands.burst
      let grace = try village.connect(as: "grace")
      for number in 0..<burst + 10 { grace.send(#"{"id":\#(number),"do":"ping"}"#) }
      for number in 0..<burst + 10 {
        let answer = try await grace.next()
        #expect(answer.int("re") == number && (answer["problem.code"] == "rate_limited") == (number >= burst))
      }
      // A client that goes on is disconnected.
      for number in 0..<RealtimeLimits.refusedCommands { grace.send(#"{"id":\#(number),"do":"ping"}"#) }
      #expect(try await grace.closed().code == 1008)
    }
  }

  @Test func `the permission to publish is checked on each command`() async throws {
    try await Village.open(.socket) { village in
      try await village.changeSettings(["may_publish": "moderators"])
      let mira = try village.connect(as: "mira")
      let publish: [String: Any] = ["do": "publish", "topic": "app:x", "data": 1]
      #expect(try await mira.request(publish).bool("ok") == true)
      #expect(
        try await village.request(
          .patch, "/users/\(village.id("mira"))", as: "ada", ["role": "member", "end_sessions": false]
        ).status == 200)
      #expect(try await mira.request(publish)["problem.code"] == "forbidden")
    }
  }

  @Test func `presence of thousands of users is sent completely`() async throws {
    try await Village.open(.socket) { village in
      let devices = (0..<3_000).map { _ in Device() }
      for (number, device) in devices.enumerated() {
        village.community.hub.update(ObjectIdentifier(device), of: ID(1_000_000 + number), .online)
      }
      let linus = try village.connect("topics=presence", as: "linus")
      var received: Set<String> = []
      var second = 0
      while received.count <= devices.count {
        while linus.waitingCount == 0 {
          second += 1
          village.advanceClock(second)
          try await Task.sleep(for: .milliseconds(2))
        }
        let line = try await linus.next()
        if line["event"] == "presence", let id = line["data.user_id"] { received.insert(id) }
      }
      #expect(received.contains(village.id("linus")))
    }
  }

  @Test func `reading pauses while the messages of queued commands are large`() {
    var queue = CommandQueue()
    queue.enqueue(queue.open(RealtimeCommand.noID), .ping, size: 40_000)
    #expect(!queue.isFull)
    queue.enqueue(queue.open(RealtimeCommand.noID), .ping, size: 40_000)
    #expect(queue.isFull)
    #expect(queue.next()?.slot == 0)
    #expect(!queue.isFull)
    queue.enqueue(queue.open(RealtimeCommand.noID), .ping, size: 40_000)
    #expect(queue.isFull)
    queue.dropQueued()
    #expect(!queue.isFull)
  }

  @Test func `no command starts while answers are queued`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let first = try await village.post("first", in: room)
      let text = String(repeating: "a long story. ", count: 1_100)
      let (before, count) = (40, 40)
      for _ in 0..<before { try await village.post(text, in: room) }
      let ada = try village.connect(as: "ada")
      #expect(try await ada.request(["do": "ping"]).bool("ok") == true)
      ada.pause()
      for number in 100..<100 + count {
        ada.send(
          #"{"id":\#(number),"do":"send","conversation_id":"\#(room)","text":"x","catch_up_after":"\#(first)"}"#)
      }
      // Each answer has the whole history, 600 KB. The socket buffers hold a few of them.
      func postedCount() async throws -> Int {
        let page = try await village.request(.get, "/conversations/\(room)/messages?limit=1", as: "ada")
        return (page.int("data.0.seq") ?? 0) - before - 1
      }
      // The socket gives no sign that it has stopped reading. Each look is a request through the same loop and store.
      var (now, looks) = (0, 0)
      while now == 0 || looks < 20 {
        try await Task.sleep(for: .milliseconds(20))
        let then = now
        now = try await postedCount()
        looks = now == then ? looks + 1 : 0
      }
      #expect(now < count)
      ada.resume()
      for number in 100..<100 + count {
        let answer = try await ada.next()
        #expect(answer.int("re") == number && answer.int("message.seq") == before + 2 + number - 100)
      }
    }
  }
}

private final class Device {}
