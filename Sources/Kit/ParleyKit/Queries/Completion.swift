/// Runs an `async` call and passes its result to a closure, for code that is not `async`. Cancel the task to cancel the call.
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
