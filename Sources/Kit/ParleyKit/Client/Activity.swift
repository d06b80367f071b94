import Synchronization

/// How many calls are under way, for an app to show.
public final class Activity: Sendable {
  private struct State {
    var count = 0
    var next = 0
    var watchers: [Int: AsyncStream<Int>.Continuation] = [:]
  }

  private let state = Mutex(State())

  init() {}

  public var count: Int { state.withLock { $0.count } }

  /// The count now, and each time it changes; who is slow sees the newest.
  public var counts: AsyncStream<Int> {
    let (stream, watcher) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.next += 1
      state.watchers[state.next] = watcher
      watcher.yield(state.count)
      return state.next
    }
    watcher.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
    }
    return stream
  }

  func begin() { change(by: 1) }
  func end() { change(by: -1) }

  private func change(by step: Int) {
    state.withLock { state in
      state.count += step
      for watcher in state.watchers.values { watcher.yield(state.count) }
    }
  }
}
