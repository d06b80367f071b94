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

/// What is held and what the server says, asked for at once. What is held comes first, if there is something, and never
/// after the server's answer.
///
///     for try await answer in parley.messages(in: room) { show(answer.value, isOld: !answer.isFresh) }
///     let fresh = try await parley.messages(in: room).fresh()
public struct CachedThenFresh<Value: Sendable>: AsyncSequence, Sendable {
  public typealias Element = CachedOrFresh<Value>
  public typealias Failure = any Error
  private let cached: @Sendable () async throws -> Value?
  private let ask: @Sendable () async throws -> Value

  /// - Parameters:
  ///   - cached: what is held; nil where that is nothing.
  ///   - fresh: what the server says.
  public init(
    cached: @escaping @Sendable () async throws -> Value?, fresh: @escaping @Sendable () async throws -> Value
  ) {
    self.cached = cached
    ask = fresh
  }

  /// Just what the server says. It is held from now on.
  public func fresh() async throws -> Value { try await ask() }

  /// The same for code that is not `async`. The task can be cancelled.
  /// - Parameter cached: hears what is held, if it comes first.
  @discardableResult
  public func fresh(
    cached: (@Sendable (Value) -> Void)? = nil, then: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) -> Task<Void, Never> {
    answer {
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
    let answers = Answers(continuation)
    let (cached, ask) = (cached, ask)
    let held = Task {
      if let value = try await cached() { await answers.give(cached: value) }
    }
    let task = Task {
      do {
        await answers.give(fresh: try await ask())
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
    return stream.makeAsyncIterator()
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
