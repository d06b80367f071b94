import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The pings of a socket. Foundation calls the handler of a ping twice, or never, if the socket closes meanwhile.
final class SocketPings: Sendable {
  private struct State {
    var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    var last = 0
    var isOver = false
  }

  private let state = Mutex(State())

  /// Returns whether the pong has arrived; false if the socket closed before.
  func send(on task: URLSessionWebSocketTask) async -> Bool {
    await withCheckedContinuation { pong in
      guard let number = add(pong) else { return pong.resume(returning: false) }
      task.sendPing { [self] error in receive(number, error == nil) }
    }
  }

  /// Nil if the socket is closed.
  private func add(_ pong: CheckedContinuation<Bool, Never>) -> Int? {
    state.withLock { state -> Int? in
      guard !state.isOver else { return nil }
      state.last += 1
      state.waiting[state.last] = pong
      return state.last
    }
  }

  /// The first call of the handler counts.
  private func receive(_ number: Int, _ isPong: Bool) {
    let pong = state.withLock { $0.waiting.removeValue(forKey: number) }
    pong?.resume(returning: isPong)
  }

  /// The socket is closed: no pong will arrive.
  func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for pong in waiting.values { pong.resume(returning: false) }
  }
}
