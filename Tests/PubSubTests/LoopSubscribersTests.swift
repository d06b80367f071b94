import ParleyModel
import TestSupport
import Testing

@testable import PubSub

/// Who follows what on one loop, and whether each gets it.
@Suite struct SwitchboardTests {
  private static func publication(_ id: Int, _ stream: Int) -> Publication {
    let event = Event(
      id: id, stream: .conversation(ID(stream)), offset: id, kind: .conversationUpdated, subject: stream, revision: 1,
      actor: 1, at: 0)
    let bytes = Array("\(id) ".utf8)
    return Publication(
      DeliveredEvent(event, .thing(stream)),
      Frame(text: bytes, framed: bytes, deflated: id.isMultiple(of: 2) ? Array("d\(id) ".utf8) : nil))
  }

  @Test(arguments: 0..<50)
  func `each gets every event of what they follow, once and in order`(seed: UInt64) {
    var random = Seeded(seed: seed)
    let hub = Hub { Frame(text: $0, framed: $0, deflated: nil) }
    let board = LoopSubscribers(hub.open())
    let users = (0..<12).map { _ in Recorder() }
    for user in users {
      board.add(user)
      // All of them follow the first.
      for stream in 1...5 where stream == 1 || Int.random(in: 0..<4, using: &random) == 0 {
        user.streams.insert(.conversation(ID(stream)))
        board.subscribe(.stream(.conversation(ID(stream))), user)
      }
    }
    var published: [Publication] = []
    for _ in 0..<30 {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        var broadcasts: [Broadcast] = []
        for _ in 0..<Int.random(in: 1...40, using: &random) {
          let stream = Int.random(in: 0..<3, using: &random) > 0 ? 1 : Int.random(in: 2...6, using: &random)
          let publication = Self.publication(published.count + 1, stream)
          published.append(publication)
          broadcasts.append(.event(publication))
          if Int.random(in: 0..<8, using: &random) == 0 { broadcasts.append(.access(.user(ID(1)))) }
        }
        hub.publish(broadcasts)
      }
      while case .more = board.deliver() {}
    }
    for (number, user) in users.enumerated() {
      let expected = published.filter { user.streams.contains($0.event.stream) }.map(\.event.id)
      #expect(user.got == expected, "person \(number)")
    }
    #expect(users.contains { $0.runs > 0 })
  }

  @Test func `what was lost is told before what came later`() {
    let hub = Hub { Frame(text: $0, framed: $0, deflated: nil) }
    let board = LoopSubscribers(hub.open())
    let ada = Recorder()
    board.add(ada)
    board.subscribe(.stream(.conversation(ID(1))), ada)
    hub.publish([.event(Self.publication(1, 1))])
    hub.reportLoss()
    hub.publish([.event(Self.publication(3, 1))])
    while case .more = board.deliver() {}
    #expect(ada.told == [.eventsLost, .event(1), .event(3)])
  }

  @Test func `what is too much for a loop is left to the log, whatever it is`() {
    let hub = Hub { Frame(text: $0, framed: $0, deflated: nil) }
    let mailbox = hub.open()
    let board = LoopSubscribers(mailbox)
    let ada = Recorder(session: ID(7))
    board.add(ada)
    let changes = (0...Mailbox.maxBroadcasts).map { Broadcast.access(.user(ID($0))) }
    hub.publish(changes)
    let contents = mailbox.take()
    #expect(contents.hasGap && contents.broadcasts.isEmpty)
    // Who has to go goes.
    for session in [7, 8] { hub.publish([.ended([ID(session)])]) }
    hub.publish(changes)
    while case .more = board.deliver() {}
    #expect(ada.told == [.eventsLost, .ended])
  }

  @Test func `a way in that has ended is told to who follows nothing, and to nobody where nobody is`() {
    let hub = Hub { Frame(text: $0, framed: $0, deflated: nil) }
    let mailbox = hub.open()
    let board = LoopSubscribers(mailbox)
    hub.publish([.ended([ID(7)])])
    #expect(mailbox.take().broadcasts.isEmpty)
    let ada = Recorder(session: ID(7))
    board.add(ada)
    hub.publish([.ended([ID(8)]), .ended([ID(7)])])
    while case .more = board.deliver() {}
    #expect(ada.told == [.ended])
    board.remove(ada)
    hub.publish([.ended([ID(7)])])
    #expect(mailbox.take().broadcasts.isEmpty)
  }

  @Test func `a run has all of its messages, in both forms`() throws {
    let stream = EventStream.conversation(ID(1))
    #expect(StreamBatch(of: stream, [Self.publication(1, 1)]) == nil)
    let run = try #require(
      StreamBatch(of: stream, [Self.publication(1, 1), Self.publication(2, 1), Self.publication(3, 1)]))
    #expect(String(decoding: run.framed, as: UTF8.self) == "1 2 3 ")
    #expect(run.deflated.map { String(decoding: $0, as: UTF8.self) } == "1 d2 3 ")
    #expect(try #require(StreamBatch(of: stream, [Self.publication(1, 1), Self.publication(3, 1)])).deflated == nil)
  }
}

private final class Recorder: Subscriber {
  enum Told: Equatable {
    case event(Int), eventsLost, ended
  }

  var streams: Set<EventStream> = []
  private(set) var told: [Told] = []
  private(set) var runs = 0
  let session: ID<Session>?

  init(session: ID<Session>? = nil) { self.session = session }

  var got: [Int] { told.compactMap { if case .event(let id) = $0 { id } else { nil } } }

  func receive(_ publication: Publication) { told.append(.event(publication.event.id)) }

  func receive(_ run: StreamBatch) {
    runs += 1
    told += run.publications.map { .event($0.event.id) }
  }

  func receive(_ signal: Signal, _ frame: Frame) {}
  func accessChanged(_ change: AccessChange) {}
  func eventsLost() { told.append(.eventsLost) }
  func sessionEnded() { told.append(.ended) }
  func tick(_ now: Int64) {}
  func hubClosed() {}
}
