/// Kinds of work that are counted apart.
public enum Work: Sendable, Hashable, CaseIterable {
  /// Whatever tries a password or a one-time link.
  case login
  /// A wrong password for one name, from wherever.
  case guessing
  case registration
  /// Messages.
  case sending
  /// Looking for users by their addresses.
  case discovery
  /// Having links looked at.
  case previewing
  /// What passes and is not kept.
  case signalling
  /// Every other change.
  case writing
}

/// How much of each kind of work one user, or one address, may ask for.
public struct RateLimits: Sendable {
  public var login = Allowance(burst: 30, perMinute: 20)
  public var guessing = Allowance(burst: 40, perDay: 240)
  public var registration = Allowance(burst: 20, perMinute: 2)
  public var sending = Allowance(burst: 60, perMinute: 120)
  public var discovery = Allowance(burst: 10, perDay: 10)
  public var previewing = Allowance(burst: 60, perMinute: 60)
  public var signalling = Allowance(burst: 256, perMinute: 1_200)
  public var writing = Allowance(burst: 120, perMinute: 240)

  public init() {}

  public subscript(_ work: Work) -> Allowance {
    switch work {
    case .login: login
    case .guessing: guessing
    case .registration: registration
    case .sending: sending
    case .discovery: discovery
    case .previewing: previewing
    case .signalling: signalling
    case .writing: writing
    }
  }
}

/// The table of them, as `--help` and the README print it.
extension RateLimits {
  public struct Entry: Sendable {
    /// `--rate-<name>` and `PARLEY_RATE_<NAME>`.
    public let name: String
    public let meaning: String
    public let path: any WritableKeyPath<RateLimits, Int> & Sendable
    /// What is taken for it.
    public let range = 1...1_000_000

    /// The default.
    public var value: Int { RateLimits()[keyPath: path] }
  }

  public static let all: [Entry] = [
    Entry(name: "login", meaning: "passwords and links that one address tries in a minute", path: \.login.perMinute),
    Entry(name: "login-burst", meaning: "how many of them at once", path: \.login.burst),
    Entry(name: "guessing", meaning: "wrong passwords for one name in a day", path: \.guessing.perDay),
    Entry(name: "guessing-burst", meaning: "how many of them at once", path: \.guessing.burst),
    Entry(
      name: "registration", meaning: "registrations per address and minute", path: \.registration.perMinute),
    Entry(name: "registration-burst", meaning: "how many of them at once", path: \.registration.burst),
    Entry(name: "sending", meaning: "messages of one person in a minute", path: \.sending.perMinute),
    Entry(name: "sending-burst", meaning: "how many of them at once", path: \.sending.burst),
    Entry(name: "writing", meaning: "other changes of one person in a minute", path: \.writing.perMinute),
    Entry(name: "writing-burst", meaning: "how many of them at once", path: \.writing.burst),
    Entry(
      name: "signals",
      meaning: "times that one person types, comes or goes, or tells other programs something, in a minute",
      path: \.signalling.perMinute),
    Entry(name: "signals-burst", meaning: "how many of them at once", path: \.signalling.burst),
    Entry(
      name: "previews", meaning: "links that are looked at for one person in a minute", path: \.previewing.perMinute),
    Entry(name: "previews-burst", meaning: "how many of them at once", path: \.previewing.burst),
    Entry(name: "discovery", meaning: "times that one person asks for addresses in a day", path: \.discovery.perDay),
    Entry(name: "discovery-burst", meaning: "how many of them at once", path: \.discovery.burst),
  ]
}

/// So many at once, and then so many in a time.
public struct Allowance: Sendable, Hashable {
  public var burst: Int
  public var perDay: Int

  public init(burst: Int, perDay: Int) {
    self.burst = max(burst, 1)
    self.perDay = max(perDay, 1)
  }

  public init(burst: Int, perMinute: Int) {
    self.init(burst: burst, perDay: perMinute * Self.minutes)
  }

  public var perMinute: Int {
    get { perDay / Self.minutes }
    set { perDay = max(newValue, 1) * Self.minutes }
  }

  /// Of a day.
  private static let minutes = 24 * 60
}
