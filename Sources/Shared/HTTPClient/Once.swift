import Synchronization

/// Given once, whoever comes first; when nobody is left to give it, something else.
package final class Once<Value: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<Value, Never>?>
  private let fallback: Value

  package init(_ continuation: CheckedContinuation<Value, Never>, orElse fallback: Value) {
    self.continuation = Mutex(continuation)
    self.fallback = fallback
  }

  deinit { give(fallback) }

  package func give(_ value: Value) {
    let waiting = continuation.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    waiting?.resume(returning: value)
  }
}
