extension Outbox {
  /// The injected time, id generator, backoff and sleep.
  public struct Clock: Sendable {
    /// Milliseconds since 1970.
    public var now: @Sendable () -> Int64
    /// A unique id for an operation.
    public var name: @Sendable () -> String
    /// The backoff delay after a number of attempts.
    public var pause: @Sendable (_ attempts: Int) -> Duration
    /// Sleeps. Throws when the task is cancelled.
    public var wait: @Sendable (Duration) async throws -> Void

    /// A clock; tests replace its parts.
    public init(
      now: @escaping @Sendable () -> Int64, name: @escaping @Sendable () -> String = Clock.randomName,
      pause: @escaping @Sendable (Int) -> Duration = Clock.backOff,
      wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
      self.now = now
      self.name = name
      self.pause = pause
      self.wait = wait
    }
  }
}

extension Outbox.Clock {
  /// 128 random bits in hex.
  @Sendable public static func randomName() -> String {
    var random = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(random.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// The delay of requests.
  @Sendable public static func backOff(_ attempts: Int) -> Duration {
    .milliseconds(RetryPolicy().delay(after: attempts))
  }
}
