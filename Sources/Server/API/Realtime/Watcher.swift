import Community
import ParleyModel
import PubSub

/// Waits until something happens in what somebody follows, for who reads the log then.
final class Watcher: Subscriber {
  private let live: LiveLoop
  let caller: Caller
  /// In milliseconds.
  var deadline: Int64?
  private let bell: AsyncStream<Void>
  private let ring: AsyncStream<Void>.Continuation
  private var audiences: Set<Signal.Audience> = []
  private var signals: [[UInt8]] = []
  /// Whether what passes in streams may be heard: not from a change of rights until it is known what is followed then.
  private var mayHear = false
  /// Rights have changed since the last page was asked for.
  private var isStale = false
  private var hasEnded = false
  private let mayExpire: Bool

  /// Signals that wait; what is more is left out.
  private static let maxSignals = 64

  init(_ live: LiveLoop, _ caller: Caller, until deadline: Int64?) {
    self.live = live
    self.caller = caller
    self.deadline = deadline
    mayExpire = deadline != nil
    (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    live.board.add(self)
    if live.isClosed { hubClosed() }
  }

  var session: ID<Session>? { caller.session }

  var isLate: Bool { deadline.map { live.now >= $0 } ?? false }

  /// Whether there is nothing to wait for any longer.
  var isDone: Bool { hasEnded || Task.isCancelled || mayExpire && isLate }

  // MARK: What is followed

  /// A page is asked for now: it knows all that has happened.
  func reads() { isStale = false }

  func subscribe(_ streams: [EventStream: SubscribedStream]) {
    mayHear = !isStale
    for stream in streams.keys { _ = subscribe(.stream(stream)) }
    for case .stream(let stream) in audiences where streams[stream] == nil {
      audiences.remove(.stream(stream))
      live.board.unsubscribe(.stream(stream), self)
      // What waits may be of it.
      signals = []
    }
  }

  /// Whether it is to be told now who is here.
  func followSignals(of topics: [LiveTopic], except lost: [LiveTopic]) -> Bool {
    var isNews = false
    for topic in topics {
      switch topic {
      case .me, .conversation, .forum: break
      case .presence: isNews = subscribe(.presence, unless: lost.contains(topic))
      case .app(let name): _ = subscribe(.app(name), unless: lost.contains(topic))
      }
    }
    return isNews
  }

  private func subscribe(_ audience: Signal.Audience, unless isLost: Bool = false) -> Bool {
    guard isLost else {
      let isNew = audiences.insert(audience).inserted
      if isNew { live.board.subscribe(audience, self) }
      return isNew
    }
    if audiences.remove(audience) != nil { live.board.unsubscribe(audience, self) }
    return false
  }

  func covers(_ streams: [EventStream: SubscribedStream]) -> Bool {
    streams.keys.allSatisfy { audiences.contains(.stream($0)) }
  }

  func leave() {
    for audience in audiences { live.board.unsubscribe(audience, self) }
    audiences = []
    live.board.remove(self)
  }

  // MARK: Waiting

  /// Until something has happened since the last time; ends at once for who has gone.
  func wait() async {
    var iterator = bell.makeAsyncIterator()
    _ = await iterator.next(isolation: #isolation)
  }

  func takeSignals() -> [[UInt8]] {
    defer { signals = [] }
    return signals
  }

  // MARK: What is told

  func receive(_ publication: Publication) { ring.yield() }

  func receive(_ signal: Signal, _ frame: Frame) {
    guard signal.sender == nil || signal.sender != caller.user, signals.count < Self.maxSignals else { return }
    if case .stream = signal.audience, !mayHear { return }
    signals.append(frame.text)
    ring.yield()
  }

  func accessChanged(_ change: AccessChange) { eventsLost() }

  func eventsLost() {
    (mayHear, isStale) = (false, true)
    ring.yield()
  }

  func sessionEnded() {
    hasEnded = true
    ring.yield()
  }

  func tick(_ now: Int64) {
    live.note(now)
    if isLate { ring.yield() }
  }

  func hubClosed() {
    hasEnded = true
    ring.finish()
  }
}
