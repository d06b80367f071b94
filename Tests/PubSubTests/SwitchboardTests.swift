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
    let board = Switchboard(hub.open())
    let people = (0..<12).map { _ in Recorder() }
    for person in people {
      board.add(person)
      // All of them follow the first.
      for stream in 1...5 where stream == 1 || Int.random(in: 0..<4, using: &random) == 0 {
        person.streams.insert(.conversation(ID(stream)))
        board.follow(.stream(.conversation(ID(stream))), person)
      }
    }
    var published: [Publication] = []
    for _ in 0..<30 {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        var postings: [Posting] = []
        for _ in 0..<Int.random(in: 1...40, using: &random) {
          let stream = Int.random(in: 0..<3, using: &random) > 0 ? 1 : Int.random(in: 2...6, using: &random)
          let publication = Self.publication(published.count + 1, stream)
          published.append(publication)
          postings.append(.event(publication))
          if Int.random(in: 0..<8, using: &random) == 0 { postings.append(.access(.account(ID(1)))) }
        }
        hub.publish(postings)
      }
      while case .more = board.deliver() {}
    }
    for (number, person) in people.enumerated() {
      let expected = published.filter { person.streams.contains($0.event.stream) }.map(\.event.id)
      #expect(person.got == expected, "person \(number)")
    }
    #expect(people.contains { $0.runs > 0 })
  }

  @Test func `what was lost is told before what came later`() {
    let hub = Hub { Frame(text: $0, framed: $0, deflated: nil) }
    let board = Switchboard(hub.open())
    let ada = Recorder()
    board.add(ada)
    board.follow(.stream(.conversation(ID(1))), ada)
    hub.publish([.event(Self.publication(1, 1))])
    hub.lose()
    hub.publish([.event(Self.publication(3, 1))])
    while case .more = board.deliver() {}
    #expect(ada.told == [.missed, .event(1), .event(3)])
  }

  @Test func `what is too much for a loop is left to the log, whatever it is`() {
    let hub = Hub { Frame(text: $0, framed: $0, deflated: nil) }
    let mailbox = hub.open()
    let board = Switchboard(mailbox)
    let ada = Recorder(session: ID(7))
    board.add(ada)
    let changes = (0...Mailbox.mostPostings).map { Posting.access(.account(ID($0))) }
    hub.publish(changes)
    let contents = mailbox.take()
    #expect(contents.hasMissed && contents.postings.isEmpty)
    // Who has to go goes.
    for session in [7, 8] { hub.publish([.ended([ID(session)])]) }
    hub.publish(changes)
    while case .more = board.deliver() {}
    #expect(ada.told == [.missed, .ended])
  }

  @Test func `a way in that has ended is told to who follows nothing, and to nobody where nobody is`() {
    let hub = Hub { Frame(text: $0, framed: $0, deflated: nil) }
    let mailbox = hub.open()
    let board = Switchboard(mailbox)
    hub.publish([.ended([ID(7)])])
    #expect(mailbox.take().postings.isEmpty)
    let ada = Recorder(session: ID(7))
    board.add(ada)
    hub.publish([.ended([ID(8)]), .ended([ID(7)])])
    while case .more = board.deliver() {}
    #expect(ada.told == [.ended])
    board.remove(ada)
    hub.publish([.ended([ID(7)])])
    #expect(mailbox.take().postings.isEmpty)
  }

  @Test func `a run has all of its messages, in both forms`() throws {
    let stream = EventStream.conversation(ID(1))
    #expect(Run(of: stream, [Self.publication(1, 1)]) == nil)
    let run = try #require(Run(of: stream, [Self.publication(1, 1), Self.publication(2, 1), Self.publication(3, 1)]))
    #expect(String(decoding: run.framed, as: UTF8.self) == "1 2 3 ")
    #expect(run.deflated.map { String(decoding: $0, as: UTF8.self) } == "1 d2 3 ")
    #expect(try #require(Run(of: stream, [Self.publication(1, 1), Self.publication(3, 1)])).deflated == nil)
  }
}

private final class Recorder: Follower {
  enum Told: Equatable {
    case event(Int), missed, ended
  }

  var streams: Set<EventStream> = []
  private(set) var told: [Told] = []
  private(set) var runs = 0
  let session: ID<Session>?

  init(session: ID<Session>? = nil) { self.session = session }

  var got: [Int] { told.compactMap { if case .event(let id) = $0 { id } else { nil } } }

  func take(_ publication: Publication) { told.append(.event(publication.event.id)) }

  func take(_ run: Run) {
    runs += 1
    told += run.publications.map { .event($0.event.id) }
  }

  func take(_ signal: Signal, _ frame: Frame) {}
  func reconsider(_ change: AccessChange) {}
  func missed() { told.append(.missed) }
  func ended() { told.append(.ended) }
  func tick(_ now: Int64) {}
  func hubClosed() {}
}
