import Synchronization

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
