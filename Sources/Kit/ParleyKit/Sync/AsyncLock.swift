/// A first-in, first-out lock for `async` code.
actor AsyncLock {
  private var isLocked = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Runs `body` on the caller's executor while holding the lock.
  nonisolated(nonsending) func withLock<Value: Sendable, Failure: Error>(
    _ body: nonisolated(nonsending) () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await acquire()
    do throws(Failure) {
      let value = try await body()
      await release()
      return value
    } catch {
      await release()
      throw error
    }
  }

  private func acquire() async {
    guard isLocked else {
      isLocked = true
      return
    }
    await withCheckedContinuation { waiters.append($0) }
  }

  private func release() {
    if waiters.isEmpty { isLocked = false } else { waiters.removeFirst().resume() }
  }
}
