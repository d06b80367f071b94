/// An answer that comes twice: from this device at once, and from the server when it has answered.
public enum CachedOrFresh<Value: Sendable>: Sendable {
  case cached(Value)
  case fresh(Value)

  public var value: Value {
    switch self {
    case .cached(let value), .fresh(let value): value
    }
  }

  public var isFresh: Bool {
    switch self {
    case .cached: false
    case .fresh: true
    }
  }
}

/// Asks both at once. What is held comes first, if there is something, and never after the server's answer.
public func cachedThenFresh<Value: Sendable>(
  cached: @escaping @Sendable () async throws -> Value?, fresh: @escaping @Sendable () async throws -> Value
) -> AsyncThrowingStream<CachedOrFresh<Value>, any Error> {
  AsyncThrowingStream { continuation in
    let answers = Answers(continuation)
    let held = Task {
      if let value = try await cached() { await answers.give(cached: value) }
    }
    let task = Task {
      do {
        await answers.give(fresh: try await fresh())
      } catch {
        // Without the server, what is held is all there is: it is waited for.
        _ = await held.result
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in
      held.cancel()
      task.cancel()
    }
  }
}

private actor Answers<Value: Sendable> {
  private let continuation: AsyncThrowingStream<CachedOrFresh<Value>, any Error>.Continuation
  private var isAnswered = false

  init(_ continuation: AsyncThrowingStream<CachedOrFresh<Value>, any Error>.Continuation) {
    self.continuation = continuation
  }

  func give(cached value: Value) {
    if !isAnswered { continuation.yield(.cached(value)) }
  }

  func give(fresh value: Value) {
    isAnswered = true
    continuation.yield(.fresh(value))
    continuation.finish()
  }
}
