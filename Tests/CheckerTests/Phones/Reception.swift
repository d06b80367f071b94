import ParleyKit
import Synchronization

/// The app's end of a WebSocket.
final class Reception: Sendable {
  private struct State {
    var texts: [String] = []
    var reader: CheckedContinuation<Result<String, LiveSocket.Ending>, Never>?
    var pings: [CheckedContinuation<LiveSocket.Ending?, Never>] = []
    var ending: LiveSocket.Ending?
    /// Closed by the app.
    var isLeft = false
  }

  private let state = Mutex(State())

  var socket: LiveSocket {
    LiveSocket(
      send: { _ in },
      next: { () async throws(LiveSocket.Ending) in try await self.next().get() },
      ping: { () async throws(LiveSocket.Ending) in if let ending = await self.ping() { throw ending } },
      close: { code, reason in self.end(LiveSocket.Ending(code: code, reason: reason), isLeft: true) })
  }

  private func next() async -> Result<String, LiveSocket.Ending> {
    await withCheckedContinuation { reader in
      let now: Result<String, LiveSocket.Ending>? = state.withLock { state in
        if !state.texts.isEmpty { return .success(state.texts.removeFirst()) }
        if let ending = state.ending { return .failure(ending) }
        state.reader = reader
        return nil
      }
      if let now { reader.resume(returning: now) }
    }
  }

  private func ping() async -> LiveSocket.Ending? {
    await withCheckedContinuation { asker in
      let ending = state.withLock { state in
        if state.ending == nil { state.pings.append(asker) }
        return state.ending
      }
      if let ending { asker.resume(returning: ending) }
    }
  }

  // MARK: Network side

  var isLeft: Bool { state.withLock { $0.isLeft } }
  var isPinging: Bool { state.withLock { !$0.pings.isEmpty } }

  func arrive(_ text: String) {
    let reader = state.withLock { state in
      guard state.ending == nil else { return nil as CheckedContinuation<Result<String, LiveSocket.Ending>, Never>? }
      if state.reader == nil { state.texts.append(text) }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: .success(text))
  }

  func answerPings() {
    let pings = state.withLock { state in
      defer { state.pings = [] }
      return state.pings
    }
    for ping in pings { ping.resume(returning: nil) }
  }

  /// Ends the socket. Queued frames can still be read, unless the app has closed it.
  func end(_ ending: LiveSocket.Ending, isLeft: Bool = false) {
    let (reader, pings) = state.withLock { state in
      if state.ending == nil { state.ending = ending }
      if isLeft {
        state.isLeft = true
        state.texts = []
      }
      defer { (state.reader, state.pings) = (nil, []) }
      return (state.reader, state.pings)
    }
    reader?.resume(returning: .failure(ending))
    for ping in pings { ping.resume(returning: ending) }
  }
}
