// The subscribers of one event loop. A wake-up of the mailbox resumes one task, which delivers its publications and
// starts the pending catch-up reads, since only code on the loop can start tasks on it.

package import Community
package import ParleyModel
package import PubSub
import Web

/// A subscriber that reads pages of the event log.
package protocol LogReader: AnyObject {
  /// Starts the pending read, if there is one.
  func startReading(isolation: isolated (any Actor)?)
}

package final class LoopBroadcasts {
  package let board: LoopSubscribers
  package let view: CommunityView
  private let mailbox: Mailbox
  private var isStarted = false
  /// The hub was closed: the server is stopping.
  package private(set) var isClosed = false
  /// The hub's monotonic time in milliseconds.
  package var now: Int64 { view.community.hub.now }
  private var pendingReaders: [any LogReader] = []
  private(set) var readingCount = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var firstWaiting = 0

  /// The maximum number of concurrent catch-up reads per loop. After a mass reconnect the other clients wait in a
  /// queue.
  private static let maxReads = 16

  init(_ community: Community, _ view: CommunityView) {
    mailbox = community.hub.open()
    board = LoopSubscribers(mailbox)
    self.view = view
  }

  /// The instance of the request's loop.
  package static func of(_ context: RequestContext) -> LoopBroadcasts {
    let (community, view) = (context.community, context.view)
    community.hub.advance(to: context.server.uptime, wall: context.server.now)
    return context.server.locals.object(LoopBroadcasts.self) { LoopBroadcasts(community, view) }
  }

  package func start(isolation: isolated (any Actor)? = #isolation) {
    guard !isStarted else { return }
    isStarted = true
    Task {
      _ = isolation
      for await _ in self.mailbox.wakeUps {
        await self.deliver(isolation: isolation)
        if self.isClosed { break }
      }
    }
  }

  private func deliver(isolation: isolated (any Actor)?) async {
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

  // MARK: Catch-up reads

  /// Queues a catch-up read.
  package func enqueue(_ reader: any LogReader) { pendingReaders.append(reader) }

  package func startReading(isolation: isolated (any Actor)?) {
    let readers = pendingReaders
    pendingReaders = []
    for reader in readers { reader.startReading(isolation: isolation) }
  }

  package func catchUp(
    _ topics: [LiveTopic], from startPoint: StartPoint, _ bounds: PageBounds, for caller: Caller,
    cache: CatchUpCache? = nil
  ) async throws(Refusal) -> CatchUp {
    await acquireReadSlot()
    defer { releaseReadSlot() }
    return try await view.community.catchUp(topics, from: startPoint, bounds, for: caller, cache: cache)
  }

  private func acquireReadSlot() async {
    guard readingCount >= Self.maxReads else {
      readingCount += 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Hands the slot to the first waiting read.
  private func releaseReadSlot() {
    guard firstWaiting < waiting.count else {
      waiting = []
      firstWaiting = 0
      readingCount -= 1
      return
    }
    let next = waiting[firstWaiting]
    firstWaiting += 1
    // Compacts the list, which never becomes empty under permanent load.
    if firstWaiting >= 1_024, firstWaiting * 2 >= waiting.count {
      waiting.removeFirst(firstWaiting)
      firstWaiting = 0
    }
    next.resume()
  }
}
