import Model
import SeededRandom
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
  var streams: Set<EventStream> = []
  var got: [Int] = []
  var runs = 0
  let session: ID<Session>? = nil

  func take(_ publication: Publication) { got.append(publication.event.id) }

  func take(_ run: Run) {
    runs += 1
    got += run.publications.map(\.event.id)
  }

  func take(_ signal: Signal, _ frame: Frame) {}
  func reconsider(_ change: AccessChange) {}
  func missed() {}
  func ended() {}
  func tick(_ now: Int64) {}
  func hubClosed() {}
}
