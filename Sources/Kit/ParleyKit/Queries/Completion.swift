/// Any call of this library for code that is not `async`: what came of it is told to a closure. The task can be cancelled.
/// Those of the kit have such a form of their own (`Completions`).
///
///     perform { try await parley.outbox.send(draft, in: room) } then: { result in … }
@discardableResult
public func perform<Value: Sendable>(
  _ call: @escaping @Sendable () async throws -> Value, then: @escaping @Sendable (Result<Value, any Error>) -> Void
) -> Task<Void, Never> {
  Task {
    let result: Result<Value, any Error>
    do { result = .success(try await call()) } catch { result = .failure(error) }
    then(result)
  }
}
