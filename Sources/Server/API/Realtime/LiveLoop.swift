// Those who follow along on one event loop. The mailbox's bell wakes one task, which passes on what is there; whatever has
// to be read for somebody is started by this too, since only what runs on the loop can start something there.

import Community
import ParleyModel
import PubSub
import Web

final class LiveLoop {
  let board: LoopSubscribers
  let view: CommunityView
  private let mailbox: Mailbox
  private var isStarted = false
  /// Nothing will be told any more: the server is stopping.
  private(set) var isClosed = false
  /// In milliseconds, as of the last look at the clock.
  private(set) var now: Int64
  private var readers: [RealtimeSocket] = []
  private(set) var readingCount = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var firstWaiting = 0

  /// How many clients of a loop read on at the same time. When all come back at once, the others wait for their turn.
  private static let maxReading = 16

  init(_ community: Community, _ view: CommunityView, now: Int64) {
    mailbox = community.hub.open()
    board = LoopSubscribers(mailbox)
    self.view = view
    self.now = now
  }

  /// The one of the loop of this call.
  static func of(_ context: RequestContext) -> LiveLoop {
    let (community, view, now) = (context.community, context.view, context.server.now)
    return context.server.locals.object(LiveLoop.self) { LiveLoop(community, view, now: now) }
  }

  func start(isolation: isolated (any Actor)? = #isolation) {
    guard !isStarted else { return }
    isStarted = true
    Task {
      _ = isolation
      for await _ in self.mailbox.wakeUps {
        await self.passOn(isolation: isolation)
        if self.isClosed { break }
      }
    }
  }

  private func passOn(isolation: isolated (any Actor)?) async {
    while true {
      let rest = board.deliver()
      startReading(isolation: isolation)
      switch rest {
      case .more: await Task.yield()
      case .done: return
      case .closed:
        isClosed = true
        return
      }
    }
  }

  /// What all followers are told, too; before them.
  func note(_ now: Int64) { self.now = max(self.now, now) }

  // MARK: Reading on

  /// To be read for as soon as the loop comes to it.
  func enqueue(_ socket: RealtimeSocket) { readers.append(socket) }

  func startReading(isolation: isolated (any Actor)?) {
    let sockets = readers
    readers = []
    for socket in sockets { socket.startReading(isolation: isolation) }
  }

  func catchUp(
    _ topics: [LiveTopic], from startPoint: StartPoint, _ bounds: PageBounds, for caller: Caller,
    cache: CatchUpCache? = nil
  ) async throws(Refusal) -> CatchUp {
    await enter()
    defer { leave() }
    return try await view.community.catchUp(topics, from: startPoint, bounds, for: caller, cache: cache)
  }

  private func enter() async {
    guard readingCount >= Self.maxReading else {
      readingCount += 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Passes the turn on.
  private func leave() {
    guard firstWaiting < waiting.count else {
      waiting = []
      firstWaiting = 0
      readingCount -= 1
      return
    }
    let next = waiting[firstWaiting]
    firstWaiting += 1
    // Where somebody waits all the time the list would never be empty.
    if firstWaiting >= 1_024, firstWaiting * 2 >= waiting.count {
      waiting.removeFirst(firstWaiting)
      firstWaiting = 0
    }
    next.resume()
  }
}
