/// Lets one after the other, in the order in which they came.
actor Turns {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Runs it where it was asked for, when those that came before are done.
  nonisolated(nonsending) func next<Value: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    await take()
    do {
      let value = try await body()
      await give()
      return value
    } catch {
      await give()
      throw error
    }
  }

  private func take() async {
    guard isTaken else {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func give() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
