public import ParleyModel
import Synchronization

/// The queue of one event loop. Publishers enqueue broadcasts; the loop is woken once per batch and takes the whole
/// contents.
public final class Mailbox: Sendable {
  /// The contents returned by `take`.
  public struct Contents: Sendable {
    public var broadcasts: [Broadcast] = []
    /// Broadcasts were dropped. Subscribers catch up from the log before they receive the remaining broadcasts.
    public var hasGap = false
    /// The last clock tick since the previous `take`.
    public var now: Int64?
    public var isClosed = false
  }

  private struct State {
    var audiences: Set<Signal.Audience> = []
    /// Whether the loop has a subscriber, with or without subscriptions.
    var hasSubscribers = false
    var contents = Contents()
    var size = 0
  }

  private let state = Mutex(State())
  /// Yields when the mailbox has contents.
  public let wakeUps: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation

  /// Beyond these limits the queue is dropped, and the loop's subscribers catch up from the log.
  static let maxBroadcasts = 8_192
  static let maxBytes = 32 << 20

  init() {
    (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: The loop's side

  /// Called when the loop gets its first subscriber or loses its last.
  func setHasSubscribers(_ hasSubscribers: Bool) { state.withLock { $0.hasSubscribers = hasSubscribers } }

  public func subscribe(_ audience: Signal.Audience) { state.withLock { _ = $0.audiences.insert(audience) } }

  public func unsubscribe(_ audience: Signal.Audience) { state.withLock { _ = $0.audiences.remove(audience) } }

  public func take() -> Contents {
    state.withLock { state in
      let contents = state.contents
      state.contents = Contents()
      state.contents.isClosed = contents.isClosed
      state.size = 0
      return contents
    }
  }

  // MARK: The hub's side

  func hasAudience(_ audience: Signal.Audience) -> Bool { state.withLock { $0.audiences.contains(audience) } }

  func put(_ broadcasts: [Broadcast]) {
    let hasNew = state.withLock { state in
      let before = state.contents.broadcasts.count
      let hasSubscribers = state.hasSubscribers || !state.audiences.isEmpty
      for broadcast in broadcasts where broadcast.matches(state.audiences, hasSubscribers) {
        state.contents.broadcasts.append(broadcast)
        state.size += broadcast.size
      }
      let hasNew = state.contents.broadcasts.count > before
      if state.contents.broadcasts.count > Self.maxBroadcasts || state.size > Self.maxBytes {
        state.contents.drop()
        state.size = 0
      }
      return hasNew
    }
    if hasNew { wakeUp.yield() }
  }

  func reportLoss() {
    state.withLock { $0.contents.hasGap = true }
    wakeUp.yield()
  }

  func tick(_ now: Int64) {
    state.withLock { $0.contents.now = now }
    wakeUp.yield()
  }

  func close() {
    state.withLock { $0.contents.isClosed = true }
    wakeUp.yield()
    wakeUp.finish()
  }
}

extension Mailbox.Contents {
  /// Drops all broadcasts except session endings, which the log does not contain. Subscribers re-read the events from
  /// the log with their current rights.
  fileprivate mutating func drop() {
    var ended: Set<ID<Session>> = []
    for case .ended(let sessions) in broadcasts { ended.formUnion(sessions) }
    broadcasts = ended.isEmpty ? [] : [.ended(ended)]
    hasGap = true
  }
}

extension Broadcast {
  fileprivate func matches(_ audiences: Set<Signal.Audience>, _ hasSubscribers: Bool) -> Bool {
    switch self {
    case .event(let publication): audiences.contains(.stream(publication.event.stream))
    case .signal(let signal, _): audiences.contains(signal.audience)
    case .access, .ended: hasSubscribers
    }
  }

  fileprivate var size: Int {
    switch self {
    case .event(let publication): publication.frames.size + (publication.reduced?.size ?? 0)
    case .signal(_, let frame): frame.size
    case .access, .ended: 0
    }
  }
}
