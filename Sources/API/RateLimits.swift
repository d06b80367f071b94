/// Kinds of work that are counted apart.
public enum Work: Sendable, Hashable, CaseIterable {
  /// Whatever tries a password or a one-time link.
  case login
  case registration
  /// Messages.
  case sending
  /// Every other change.
  case writing
}

/// How much of each kind of work one person, or one address, may ask for.
public struct RateLimits: Sendable {
  public var login = Allowance(burst: 30, perMinute: 20)
  public var registration = Allowance(burst: 20, perMinute: 2)
  public var sending = Allowance(burst: 60, perMinute: 120)
  public var writing = Allowance(burst: 120, perMinute: 240)

  public init() {}

  public subscript(_ work: Work) -> Allowance {
    switch work {
    case .login: login
    case .registration: registration
    case .sending: sending
    case .writing: writing
    }
  }
}

/// So many at once, and then so many a minute.
public struct Allowance: Sendable, Hashable {
  public var burst: Int
  public var perMinute: Int

  public init(burst: Int, perMinute: Int) {
    self.burst = max(burst, 1)
    self.perMinute = max(perMinute, 1)
  }
}
