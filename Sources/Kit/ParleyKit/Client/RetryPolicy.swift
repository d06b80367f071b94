/// Attempts and delays after temporary faults. The delays are those of the JavaScript library: 0.5 s, doubled up to 30 s, with
/// jitter in the upper half. Requests and the live connection use the policy of the client, the outbox the default.
public struct RetryPolicy: Sendable {
  /// Attempts in total.
  public var maxAttempts = 4
  /// Milliseconds before the second attempt; doubles with each further attempt.
  public var initialDelay = 500
  /// In milliseconds.
  public var maxDelay = 30_000
  /// Milliseconds. If the server's `Retry-After` is longer, the request fails.
  public var maxRetryAfter = 20_000
  /// A random number between 0 and 1. Spreads the retries of many clients.
  public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
  /// Waits before a retry. A test replaces it.
  public var sleep: @Sendable (_ milliseconds: Int) async throws -> Void = { milliseconds in
    try await Task.sleep(for: .milliseconds(milliseconds))
  }

  /// The usual retries, with growing delays and jitter.
  public init() {}

  /// One attempt.
  public static var never: RetryPolicy {
    var retryPolicy = RetryPolicy()
    retryPolicy.maxAttempts = 1
    return retryPolicy
  }

  /// Milliseconds to wait after `tries` attempts: between half and all of the exponential delay.
  func delay(after tries: Int) -> Int {
    let full = min(maxDelay, initialDelay << min(max(0, tries - 1), 16))
    return full / 2 + Int(Double(full - full / 2) * jitter())
  }

  /// Milliseconds to wait before a retry; nil if there is none.
  func delay(after tries: Int, of fault: ClientFault, isRepeatable: Bool) -> Int? {
    guard tries < maxAttempts, fault.isTemporary, isRepeatable || fault.wasNotProcessed else { return nil }
    guard case .refused(let problem) = fault, let seconds = problem.retryAfter else { return delay(after: tries) }
    let retryAfter = min(seconds, 86_400) * 1_000
    return retryAfter <= maxRetryAfter ? max(retryAfter, delay(after: tries)) : nil
  }
}
