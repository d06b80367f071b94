import Community
import ParleyModel
import PubSub

/// Wakes an event stream or a long poll, which then reads the event log.
final class LongPollSubscriber: Subscriber {
  private let live: LoopBroadcasts
  let caller: Caller
  /// The end of the current wait, in milliseconds.
  var deadline: Int64?
  private let wakeUps: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation
  private var audiences: Set<Signal.Audience> = []
  private var signals: [[UInt8]] = []
  /// Whether signals of streams are accepted. False from a permission change until the next page has the readable
  /// streams.
  private var acceptsStreamSignals = false
  /// Permissions have changed since the last page was requested.
  private var isStale = false
  private var hasEnded = false
  private var isSessionOver = false
  private let mayExpire: Bool

  /// The maximum number of queued signals. Further ones are dropped.
  private static let maxSignals = 64

  init(_ live: LoopBroadcasts, _ caller: Caller, until deadline: Int64?) {
    self.live = live
    self.caller = caller
    self.deadline = deadline
    mayExpire = deadline != nil
    (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    live.board.add(self)
    if live.isClosed { hubClosed() }
  }

  var session: ID<Session>? { caller.session }

  var isPastDeadline: Bool { deadline.map { live.now >= $0 } ?? false }

  /// Whether the wait is over for good.
  var isDone: Bool { hasEnded || Task.isCancelled || mayExpire && isPastDeadline }

  /// The ban that has ended the session.
  var ban: Refusal? {
    guard isSessionOver else { return nil }
    do throws(Refusal) { try live.view.checkAdmitted(caller) } catch { if case .banned = error { return error } }
    return nil
  }

  // MARK: Subscriptions

  /// Called when a page is requested: it reflects all earlier permission changes.
  func pageRequested() { isStale = false }

  func subscribe(_ streams: [EventStream: SubscribedStream]) {
    acceptsStreamSignals = !isStale
    for stream in streams.keys { _ = subscribe(.stream(stream)) }
    for case .stream(let stream) in audiences where streams[stream] == nil {
      audiences.remove(.stream(stream))
      live.board.unsubscribe(.stream(stream), self)
      // Queued signals may be of this stream.
      signals = []
    }
  }

  /// Subscribes to the signals of the topics. Returns whether presence is new and its current state must be sent.
  func subscribeSignals(of topics: [LiveTopic], except lost: [LiveTopic]) -> Bool {
    var isPresenceNew = false
    for topic in topics {
      switch topic {
      case .me, .conversation, .forum, .forumMessages, .timeline: break
      case .presence: isPresenceNew = subscribe(.presence, unless: lost.contains(topic))
      case .app(let name): _ = subscribe(.app(name), unless: lost.contains(topic))
      }
    }
    return isPresenceNew
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

  /// Waits for a wake-up since the last wait. Returns at once after a disconnect.
  func wait() async {
    var iterator = wakeUps.makeAsyncIterator()
    _ = await iterator.next(isolation: #isolation)
  }

  func takeSignals() -> [[UInt8]] {
    defer { signals = [] }
    return signals
  }

  // MARK: Subscriber

  func receive(_ publication: Publication) { wakeUp.yield() }

  func receive(_ signal: Signal, _ frame: Frame) {
    guard signal.sender == nil || signal.sender != caller.user, signals.count < Self.maxSignals else { return }
    if case .stream = signal.audience, !acceptsStreamSignals { return }
    signals.append(frame.text)
    wakeUp.yield()
  }

  func accessChanged(_ change: AccessChange) { eventsLost() }

  func eventsLost() {
    (acceptsStreamSignals, isStale) = (false, true)
    wakeUp.yield()
  }

  func sessionEnded() {
    (hasEnded, isSessionOver) = (true, true)
    wakeUp.yield()
  }

  func tick(_ now: Int64) {
    if isPastDeadline { wakeUp.yield() }
  }

  func hubClosed() {
    hasEnded = true
    wakeUp.finish()
  }
}
