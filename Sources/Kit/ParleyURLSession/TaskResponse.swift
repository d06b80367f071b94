import Foundation
import ParleyKit
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The response of a task: the head, then the body in chunks. Its release cancels the task.
final class TaskResponse: Sendable {
  private let task: URLSessionDataTask
  private let received: ResponseParts

  /// Starts the task. `body` is kept until the task ends.
  init(_ task: URLSessionDataTask, body: TemporaryFile?, _ tasks: SessionTasks) {
    self.task = task
    received = ResponseParts(body: body)
    tasks.add(received, for: task)
    task.resume()
  }

  deinit { task.cancel() }

  func head() async throws(TransportFailure) -> (status: Int, fields: [TransportRequest.Field]) {
    let response = await withTaskCancellationHandler {
      await withCheckedContinuation { received.awaitHead($0) }
    } onCancel: {
      task.cancel()
    }
    guard let http = try response.get() as? HTTPURLResponse else { throw .malformed("no HTTP response") }
    return (http.statusCode, http.transportFields)
  }

  /// The next chunk of the body; nil at its end.
  func next() async throws(TransportFailure) -> [UInt8]? {
    let chunk = await withTaskCancellationHandler {
      await withCheckedContinuation { received.awaitChunk(of: task, $0) }
    } onCancel: {
      task.cancel()
    }
    return try chunk.get()
  }
}

/// The received parts that the reader of a task has not taken. The task is suspended while they are too large.
final class ResponseParts: Sendable {
  typealias Head = Result<URLResponse, TransportFailure>
  typealias Chunk = Result<[UInt8]?, TransportFailure>

  private struct State {
    var head: Head?
    var bytes: [UInt8] = []
    /// Success at the end of the body.
    var end: Result<Void, TransportFailure>?
    var isSuspended = false
    var headReader: CheckedContinuation<Head, Never>?
    var chunkReader: CheckedContinuation<Chunk, Never>?
    var body: TemporaryFile?

    /// The next chunk, if it is known: bytes before the end.
    mutating func takeChunk() -> Chunk? {
      guard bytes.isEmpty else {
        defer { bytes = [] }
        return .success(bytes)
      }
      return end?.map { nil }
    }

    // Both are called in the lock: the task is suspended if and only if `isSuspended` is set.

    mutating func suspend(_ task: URLSessionTask) {
      #if !canImport(FoundationNetworking)
      // FoundationNetworking crashes if a suspended task receives data or is cancelled.
      guard !isSuspended else { return }
      isSuspended = true
      task.suspend()
      #endif
    }

    mutating func resume(_ task: URLSessionTask) {
      guard isSuspended else { return }
      isSuspended = false
      task.resume()
    }
  }

  private let state: Mutex<State>

  private static let maxBytes = 1 << 20

  init(body: TemporaryFile?) {
    state = Mutex(State(body: body))
  }

  func awaitHead(_ reader: CheckedContinuation<Head, Never>) {
    let head = state.withLock { state in
      if state.head == nil { state.headReader = reader }
      return state.head
    }
    if let head { reader.resume(returning: head) }
  }

  func awaitChunk(of task: URLSessionTask, _ reader: CheckedContinuation<Chunk, Never>) {
    let chunk = state.withLock { state in
      let chunk = state.takeChunk()
      if chunk == nil { state.chunkReader = reader }
      state.resume(task)
      return chunk
    }
    if let chunk { reader.resume(returning: chunk) }
  }

  // MARK: Receiving

  func receive(_ response: URLResponse) { receive(head: .success(response)) }

  func receive(_ data: Data, of task: URLSessionTask) {
    let reader = state.withLock { state in
      let reader = state.chunkReader
      state.chunkReader = nil
      guard reader == nil else { return reader }
      state.bytes += data
      if state.bytes.count > Self.maxBytes { state.suspend(task) }
      return reader
    }
    reader?.resume(returning: .success(Array(data)))
  }

  func end(_ error: (any Error)?) {
    let end: Result<Void, TransportFailure> = error.map { .failure(TransportFailure($0)) } ?? .success(())
    receive(head: end.flatMap { .failure(.malformed("no HTTP response")) })
    let reader = state.withLock { state in
      state.end = end
      state.body = nil
      defer { state.chunkReader = nil }
      return state.chunkReader
    }
    reader?.resume(returning: end.map { nil })
  }

  /// The first head counts.
  private func receive(head: Head) {
    let reader = state.withLock { state in
      if state.head == nil { state.head = head }
      defer { state.headReader = nil }
      return state.headReader
    }
    reader?.resume(returning: head)
  }
}
