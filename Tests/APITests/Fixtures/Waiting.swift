import Testing

/// Waits for a condition, at most 60 s.
func waitUntil(
  at location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while try await !condition() {
    guard ContinuousClock.now < end else {
      Issue.record("the condition is not met", sourceLocation: location)
      return
    }
    try await Task.sleep(for: .milliseconds(5))
  }
}
