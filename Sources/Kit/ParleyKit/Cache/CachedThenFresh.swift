/// A value from the cache or from the server.
public enum CachedOrFresh<Value: Sendable>: Sendable {
  /// The answer of the cache.
  case cached(Value)
  /// The answer of the server.
  case fresh(Value)

  /// The answer, from either source.
  public var value: Value {
    switch self {
    case .cached(let value), .fresh(let value): value
    }
  }

  /// Whether the server has given the answer.
  public var isFresh: Bool {
    switch self {
    case .cached: false
    case .fresh: true
    }
  }
}

/// Reads the cache and requests the value from the server at the same time. The cached value, if there is one, is delivered
/// first and never after the server's response.
///
///     for try await answer in parley.messages(in: room) { show(answer.value, isOld: !answer.isFresh) }
///     let fresh = try await parley.messages(in: room).fresh()
public struct CachedThenFresh<Value: Sendable>: AsyncSequence, Sendable {
  public typealias Element = CachedOrFresh<Value>
  public typealias Failure = any Error
  private let cached: @Sendable () async throws -> Value?
  private let fetch: @Sendable () async throws -> Value

  /// - Parameters:
  ///   - cached: reads the cache; nil if the value is not cached.
  ///   - fresh: requests the value from the server.
  public init(
    cached: @escaping @Sendable () async throws -> Value?, fresh: @escaping @Sendable () async throws -> Value
  ) {
    self.cached = cached
    fetch = fresh
  }

  /// Requests the value from the server and caches it.
  public func fresh() async throws -> Value { try await fetch() }

  /// Passes the result to a closure, for code that is not `async`. The task can be cancelled.
  /// - Parameter cached: receives the cached value, if it arrives first.
  @discardableResult
  public func fresh(
    cached: (@Sendable (Value) -> Void)? = nil, then: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) -> Task<Void, Never> {
    perform {
      guard let cached else { return try await self.fresh() }
      for try await answer in self {
        switch answer {
        case .cached(let value): cached(value)
        case .fresh(let value): return value
        }
      }
      throw ClientFault.cancelled
    } then: { result in
      then(result)
    }
  }

  public func makeAsyncIterator() -> AsyncThrowingStream<Element, any Error>.Iterator {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Element.self, throwing: (any Error).self)
    let results = ResultOrder(continuation)
    let (cached, fetch) = (cached, fetch)
    let reading = Task {
      if let value = try await cached() { await results.deliver(cached: value) }
    }
    let task = Task {
      do {
        await results.deliver(fresh: try await fetch())
      } catch {
        // Offline, deliver the cached value before the error.
        _ = await reading.result
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in
      reading.cancel()
      task.cancel()
    }
    return stream.makeAsyncIterator()
  }
}

private actor ResultOrder<Value: Sendable> {
  private let continuation: AsyncThrowingStream<CachedOrFresh<Value>, any Error>.Continuation
  private var isAnswered = false

  init(_ continuation: AsyncThrowingStream<CachedOrFresh<Value>, any Error>.Continuation) {
    self.continuation = continuation
  }

  func deliver(cached value: Value) {
    if !isAnswered { continuation.yield(.cached(value)) }
  }

  func deliver(fresh value: Value) {
    isAnswered = true
    continuation.yield(.fresh(value))
    continuation.finish()
  }
}
