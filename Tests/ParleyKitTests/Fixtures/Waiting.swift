import Testing

/// Waits until a condition is true.
func wait(until condition: () async throws -> Bool) async throws {
  for _ in 0..<10_000 {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(20))
  }
  Issue.record("it never came to that")
}
