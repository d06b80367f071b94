import ParleyKit
import Synchronization

/// The app's end of a WebSocket.
final class AppSocket: Sendable {
  private struct State {
    var texts: [String] = []
    var reader: CheckedContinuation<Result<String, LiveSocket.Ending>, Never>?
    var pings: [CheckedContinuation<LiveSocket.Ending?, Never>] = []
    var ending: LiveSocket.Ending?
    /// Closed by the app.
    var isClosedByApp = false
  }

  private let state = Mutex(State())

  var socket: LiveSocket {
    LiveSocket(
      send: { _ in },
      next: { () async throws(LiveSocket.Ending) in try await self.next().get() },
      ping: { () async throws(LiveSocket.Ending) in if let ending = await self.ping() { throw ending } },
      close: { code, reason in self.end(LiveSocket.Ending(code: code, reason: reason), isClosedByApp: true) })
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
    await withCheckedContinuation { continuation in
      let ending = state.withLock { state in
        if state.ending == nil { state.pings.append(continuation) }
        return state.ending
      }
      if let ending { continuation.resume(returning: ending) }
    }
  }

  // MARK: Network side

  var isClosedByApp: Bool { state.withLock { $0.isClosedByApp } }
  var isPinging: Bool { state.withLock { !$0.pings.isEmpty } }

  func receive(_ text: String) {
    let reader = state.withLock { state in
      guard state.ending == nil else { return nil as CheckedContinuation<Result<String, LiveSocket.Ending>, Never>? }
      if state.reader == nil { state.texts.append(text) }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: .success(text))
  }

  func completePings() {
    let pings = state.withLock { state in
      defer { state.pings = [] }
      return state.pings
    }
    for ping in pings { ping.resume(returning: nil) }
  }

  /// Ends the socket. Queued frames can still be read, unless the app has closed it.
  func end(_ ending: LiveSocket.Ending, isClosedByApp: Bool = false) {
    let (reader, pings) = state.withLock { state in
      if state.ending == nil { state.ending = ending }
      if isClosedByApp {
        state.isClosedByApp = true
        state.texts = []
      }
      defer { (state.reader, state.pings) = (nil, []) }
      return (state.reader, state.pings)
    }
    reader?.resume(returning: .failure(ending))
    for ping in pings { ping.resume(returning: ending) }
  }
}
