import ParleyModel
import TestSupport
import Testing

@testable import PubSub

/// The subscriptions of one event loop, and the delivery to each subscriber.
@Suite struct LoopSubscribersTests {
  private static func publication(_ id: Int, _ stream: Int) -> Publication {
    let event = Event(
      id: id, stream: .conversation(ID(stream)), offset: id, kind: .conversationUpdated, subject: stream, revision: 1,
      actor: 1, at: 0)
    return Publication(
      DeliveredEvent(event, .thing(stream)),
      EventFrames([], cursor: "\(id)") { _ in
        Frame(
          text: [], framed: Array("\(id) ".utf8), deflated: id.isMultiple(of: 2) ? Array("d\(id) ".utf8) : nil)
      })
  }

  @Test(arguments: 0..<50)
  func `each subscriber receives every event of its streams, once and in order`(seed: UInt64) {
    var random = Seeded(seed: seed)
    let hub = Hub { json, _ in Frame(text: json, framed: json, deflated: nil) }
    let subscribers = LoopSubscribers(hub.open())
    let users = (0..<12).map { _ in Recorder() }
    for user in users {
      subscribers.add(user)
      // Every user subscribes to the first stream.
      for stream in 1...5 where stream == 1 || Int.random(in: 0..<4, using: &random) == 0 {
        user.streams.insert(.conversation(ID(stream)))
        subscribers.subscribe(.stream(.conversation(ID(stream))), user)
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
      while case .more = subscribers.deliver() {}
    }
    for (number, user) in users.enumerated() {
      let expected = published.filter { user.streams.contains($0.event.stream) }.map(\.event.id)
      #expect(user.received == expected, "user \(number)")
    }
    #expect(users.contains { $0.batches > 0 })
  }

  @Test func `lost events are reported before later events`() {
    let hub = Hub { json, _ in Frame(text: json, framed: json, deflated: nil) }
    let subscribers = LoopSubscribers(hub.open())
    let ada = Recorder()
    subscribers.add(ada)
    subscribers.subscribe(.stream(.conversation(ID(1))), ada)
    hub.publish([.event(Self.publication(1, 1))])
    hub.reportLoss()
    hub.publish([.event(Self.publication(3, 1))])
    while case .more = subscribers.deliver() {}
    #expect(ada.calls == [.eventsLost, .event(1), .event(3)])
  }

  @Test func `broadcasts beyond the mailbox limit are dropped and reported as a gap`() {
    let hub = Hub { json, _ in Frame(text: json, framed: json, deflated: nil) }
    let mailbox = hub.open()
    let subscribers = LoopSubscribers(mailbox)
    let ada = Recorder(session: ID(7))
    subscribers.add(ada)
    let changes = (0...Mailbox.maxBroadcasts).map { Broadcast.access(.user(ID($0))) }
    hub.publish(changes)
    let contents = mailbox.take()
    #expect(contents.hasGap && contents.broadcasts.isEmpty)
    // Ended sessions are kept.
    for session in [7, 8] { hub.publish([.ended([ID(session)])]) }
    hub.publish(changes)
    while case .more = subscribers.deliver() {}
    #expect(ada.calls == [.eventsLost, .ended])
  }

  @Test func `an ended session reaches a subscriber without subscriptions, and no empty loop`() {
    let hub = Hub { json, _ in Frame(text: json, framed: json, deflated: nil) }
    let mailbox = hub.open()
    let subscribers = LoopSubscribers(mailbox)
    hub.publish([.ended([ID(7)])])
    #expect(mailbox.take().broadcasts.isEmpty)
    let ada = Recorder(session: ID(7))
    subscribers.add(ada)
    hub.publish([.ended([ID(8)]), .ended([ID(7)])])
    while case .more = subscribers.deliver() {}
    #expect(ada.calls == [.ended])
    subscribers.remove(ada)
    hub.publish([.ended([ID(7)])])
    #expect(mailbox.take().broadcasts.isEmpty)
  }

  @Test func `frames are compressed while a subscriber has compression`() {
    let hub = Hub { json, isCompressed in Frame(text: json, framed: json, deflated: isCompressed ? [1] : nil) }
    func frames() -> [Frame] {
      let event = Self.publication(1, 1).delivered
      let frames = hub.frames(of: event, "1")
      return [frames.withCursor, frames.withoutCursor, hub.makeFrame([])]
    }
    #expect(frames().allSatisfy { $0.deflated == nil })
    hub.addCompressed()
    hub.addCompressed()
    hub.removeCompressed()
    #expect(frames().allSatisfy { $0.deflated != nil })
    hub.removeCompressed()
    #expect(frames().allSatisfy { $0.deflated == nil })
  }

  @Test func `a batch contains all messages, in both encodings`() throws {
    let stream = EventStream.conversation(ID(1))
    #expect(StreamBatch(of: stream, [Self.publication(1, 1)]) == nil)
    let batch = try #require(
      StreamBatch(of: stream, [Self.publication(1, 1), Self.publication(2, 1), Self.publication(3, 1)]))
    #expect(String(decoding: batch.framed, as: UTF8.self) == "1 2 3 ")
    #expect(batch.deflated.map { String(decoding: $0, as: UTF8.self) } == "1 d2 3 ")
    #expect(try #require(StreamBatch(of: stream, [Self.publication(1, 1), Self.publication(3, 1)])).deflated == nil)
  }
}

private final class Recorder: Subscriber {
  enum Call: Equatable {
    case event(Int), eventsLost, ended
  }

  var streams: Set<EventStream> = []
  private(set) var calls: [Call] = []
  private(set) var batches = 0
  let session: ID<Session>?

  init(session: ID<Session>? = nil) { self.session = session }

  var received: [Int] { calls.compactMap { if case .event(let id) = $0 { id } else { nil } } }

  func receive(_ publication: Publication) { calls.append(.event(publication.event.id)) }

  func receive(_ batch: StreamBatch) {
    batches += 1
    calls += batch.publications.map { .event($0.event.id) }
  }

  func receive(_ signal: Signal, _ frame: Frame) {}
  func accessChanged(_ change: AccessChange) {}
  func eventsLost() { calls.append(.eventsLost) }
  func sessionEnded() { calls.append(.ended) }
  func tick(_ now: Int64) {}
  func hubClosed() {}
}
