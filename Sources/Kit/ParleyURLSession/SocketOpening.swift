import Foundation
import ParleyKit
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The handshake of a WebSocket.
final class SocketOpening: Sendable {
  private let task: URLSessionWebSocketTask
  private let handshake = Handshake()

  init(_ task: URLSessionWebSocketTask, _ tasks: SessionTasks) {
    self.task = task
    tasks.add(handshake, for: task)
  }

  /// Starts the task and waits until the socket is open.
  func wait() async throws(TransportFailure) {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { opened in
        handshake.await(opened)
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
    try result.get()
  }
}

final class Handshake: Sendable {
  typealias Opened = Result<Void, TransportFailure>

  private struct State {
    /// Kept for a reader that comes later, such as when the task is cancelled before its start.
    var result: Opened?
    var reader: CheckedContinuation<Opened, Never>?
  }

  private let state = Mutex(State())

  func await(_ reader: CheckedContinuation<Opened, Never>) {
    let result = state.withLock { state in
      if state.result == nil { state.reader = reader }
      return state.result
    }
    if let result { reader.resume(returning: result) }
  }

  /// The first result counts.
  func end(_ result: Opened) {
    let reader = state.withLock { state in
      if state.result == nil { state.result = result }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: result)
  }

  /// The task ended before the socket was open.
  func end(_ task: URLSessionTask, _ error: (any Error)?) {
    if let http = task.response as? HTTPURLResponse, http.statusCode != 101 {
      // Foundation does not keep the body of a refused handshake.
      return end(.failure(.notUpgraded(status: http.statusCode, fields: http.transportFields, body: [])))
    }
    end(.failure(error.map { TransportFailure($0) } ?? .interrupted("the socket closed during the handshake")))
  }
}
