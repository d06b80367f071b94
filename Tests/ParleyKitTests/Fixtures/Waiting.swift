import Testing

/// Waits until something is so.
func wait(until isSo: () async throws -> Bool) async throws {
  for _ in 0..<10_000 {
    if try await isSo() { return }
    try await Task.sleep(for: .milliseconds(20))
  }
  Issue.record("it never came to that")
}
