public import ParleyModel
import Synchronization

/// What waits for one event loop. Whoever publishes puts into it; the loop is rung for once, however much is put in
/// meanwhile, and takes all of it.
public final class Mailbox: Sendable {
  /// What the loop takes out.
  public struct Contents: Sendable {
    public var postings: [Posting] = []
    /// Something is not among them that should be: whoever follows is to read on before they are told any of these.
    public var hasMissed = false
    /// What time it has become since the last look, if it has.
    public var now: Int64?
    public var isClosed = false
  }

  private struct State {
    var audiences: Set<Signal.Audience> = []
    /// Whether anybody is there, be it without following anything yet.
    var isAttended = false
    var contents = Contents()
    var size = 0
  }

  private let state = Mutex(State())
  /// Rings when there is something to take.
  public let bell: AsyncStream<Void>
  private let ring: AsyncStream<Void>.Continuation

  /// A loop that is so far behind looks into the log instead.
  static let mostPostings = 8_192
  static let mostBytes = 32 << 20

  init() {
    (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: The loop's side

  /// Somebody has come, or the last one has gone.
  func attend(_ isAttended: Bool) { state.withLock { $0.isAttended = isAttended } }

  public func follow(_ audience: Signal.Audience) { state.withLock { _ = $0.audiences.insert(audience) } }

  public func unfollow(_ audience: Signal.Audience) { state.withLock { _ = $0.audiences.remove(audience) } }

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

  func follows(_ audience: Signal.Audience) -> Bool { state.withLock { $0.audiences.contains(audience) } }

  func put(_ postings: [Posting]) {
    let hasNew = state.withLock { state in
      let before = state.contents.postings.count
      let isAttended = state.isAttended || !state.audiences.isEmpty
      for posting in postings where posting.concerns(state.audiences, isAttended) {
        state.contents.postings.append(posting)
        state.size += posting.size
      }
      let hasNew = state.contents.postings.count > before
      if state.contents.postings.count > Self.mostPostings || state.size > Self.mostBytes {
        state.contents.forget()
        state.size = 0
      }
      return hasNew
    }
    if hasNew { ring.yield() }
  }

  func lose() {
    state.withLock { $0.contents.hasMissed = true }
    ring.yield()
  }

  func tick(_ now: Int64) {
    state.withLock { $0.contents.now = now }
    ring.yield()
  }

  func close() {
    state.withLock { $0.contents.isClosed = true }
    ring.yield()
    ring.finish()
  }
}

extension Mailbox.Contents {
  /// Leaves it to the log, which says by the rights of now what there is. Only who has to go is not to be read there.
  fileprivate mutating func forget() {
    var ended: Set<ID<Session>> = []
    for case .ended(let sessions) in postings { ended.formUnion(sessions) }
    postings = ended.isEmpty ? [] : [.ended(ended)]
    hasMissed = true
  }
}

extension Posting {
  fileprivate func concerns(_ audiences: Set<Signal.Audience>, _ isAttended: Bool) -> Bool {
    switch self {
    case .event(let publication): audiences.contains(.stream(publication.event.stream))
    case .signal(let signal, _): audiences.contains(signal.audience)
    case .access, .ended: isAttended
    }
  }

  fileprivate var size: Int {
    switch self {
    case .event(let publication): publication.frame.size + (publication.reduced?.size ?? 0)
    case .signal(_, let frame): frame.size
    case .access, .ended: 0
    }
  }
}
