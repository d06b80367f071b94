import Synchronization

/// The number of requests in progress, for a progress indicator.
public final class Activity: Sendable {
  private struct State {
    var count = 0
    var next = 0
    var observers: [Int: AsyncStream<Int>.Continuation] = [:]
  }

  private let state = Mutex(State())

  init() {}

  /// The number of requests under way.
  public var count: Int { state.withLock { $0.count } }

  /// The current count and each change. A slow reader gets the newest.
  public var counts: AsyncStream<Int> {
    let (stream, observer) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.next += 1
      state.observers[state.next] = observer
      observer.yield(state.count)
      return state.next
    }
    observer.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
    }
    return stream
  }

  func begin() { change(by: 1) }
  func end() { change(by: -1) }

  private func change(by step: Int) {
    state.withLock { state in
      state.count += step
      for observer in state.observers.values { observer.yield(state.count) }
    }
  }
}
