// getaddrinfo(3) blocks for an unbounded time and can't be cancelled. It therefore runs on a bounded number of separate
// threads. The caller resumes at its timeout; the thread is free again when getaddrinfo returns.

import Dispatch
package import ParleyNetworking
import Synchronization

/// Resolves host names outside the event loops.
package final class NameResolver: Sendable {
  package enum Failure: Error, Sendable, Hashable {
    case unknownHost
    case timedOut
    /// The maximum of concurrent lookups is reached.
    case busy
  }

  private let maxConcurrent: Int
  private let activeCount = Atomic<Int>(0)
  private let queue = DispatchQueue(label: "parley.names", attributes: .concurrent)

  package init(maxConcurrent: Int) { self.maxConcurrent = maxConcurrent }

  package func addresses(
    of name: String, port: UInt16, within nanoseconds: Int64
  ) async throws(Failure) -> [SocketAddress] {
    guard activeCount.add(1, ordering: .relaxed).newValue <= maxConcurrent else {
      activeCount.subtract(1, ordering: .relaxed)
      throw .busy
    }
    let found = await withCheckedContinuation { continuation in
      let answer = OnceContinuation<Result<[SocketAddress], Failure>>(continuation, orElse: .failure(.unknownHost))
      queue.async { [self] in
        let found: Result<[SocketAddress], Failure>
        do throws(SystemError) {
          found = .success(try SocketAddress.resolve(host: name, port: port))
        } catch {
          found = .failure(.unknownHost)
        }
        activeCount.subtract(1, ordering: .relaxed)
        answer.resume(found)
      }
      queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { answer.resume(.failure(.timedOut)) }
    }
    return try found.get()
  }
}

/// A continuation with several possible resumers: the first one counts. If all of them are released, it resumes with
/// `fallback`.
package final class OnceContinuation<Value: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<Value, Never>?>
  private let fallback: Value

  package init(_ continuation: CheckedContinuation<Value, Never>, orElse fallback: Value) {
    self.continuation = Mutex(continuation)
    self.fallback = fallback
  }

  deinit { resume(fallback) }

  package func resume(_ value: Value) {
    let pending = continuation.withLock { pending in
      defer { pending = nil }
      return pending
    }
    pending?.resume(returning: value)
  }
}
