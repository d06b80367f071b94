/// The kinds of operations that have a rate limit.
public enum RateLimitKind: Sendable, Hashable, CaseIterable {
  /// Attempts with a password or a one-time link.
  case login
  /// Wrong passwords for one name from one network, or from one device of the user. Ten times as many for all names from one
  /// network, and for one name from all networks.
  case guessing
  case registration
  /// Posting messages.
  case sending
  /// Looking up users by their addresses.
  case discovery
  /// Link previews.
  case previewing
  /// Messages of a webhook.
  case delivering
  /// Searches of messages, and of forums in common.
  case searching
  /// Digests of conversations.
  case digesting
  /// Ephemeral signals: typing, presence and app messages.
  case signalling
  /// Reports by visitors.
  case reporting
  /// Requests of apps for tokens.
  case oauth
  /// Apps that register themselves.
  case registeringApps
  /// Exports of own data.
  case exporting
  /// Every other change.
  case writing
}

/// The limit of each kind, per user or per address.
public struct RateLimits: Sendable {
  public var login = Allowance(burst: 30, perMinute: 20)
  public var guessing = Allowance(burst: 40, perDay: 240)
  public var registration = Allowance(burst: 20, perMinute: 2)
  public var sending = Allowance(burst: 60, perMinute: 120)
  public var discovery = Allowance(burst: 10, perDay: 10)
  public var delivering = Allowance(burst: 60, perMinute: 60)
  public var previewing = Allowance(burst: 60, perMinute: 60)
  public var searching = Allowance(burst: 60, perMinute: 120)
  public var digesting = Allowance(burst: 600, perMinute: 300)
  public var signalling = Allowance(burst: 256, perMinute: 1_200)
  public var reporting = Allowance(burst: 10, perDay: 100)
  public var oauth = Allowance(burst: 120, perMinute: 240)
  public var registeringApps = Allowance(burst: 5, perDay: 20)
  public var exporting = Allowance(burst: 3, perDay: 3)
  public var writing = Allowance(burst: 120, perMinute: 240)

  public init() {}

  public subscript(_ kind: RateLimitKind) -> Allowance {
    switch kind {
    case .login: login
    case .guessing: guessing
    case .registration: registration
    case .sending: sending
    case .discovery: discovery
    case .previewing: previewing
    case .delivering: delivering
    case .searching: searching
    case .digesting: digesting
    case .signalling: signalling
    case .reporting: reporting
    case .oauth: oauth
    case .registeringApps: registeringApps
    case .exporting: exporting
    case .writing: writing
    }
  }
}

/// The table of options, as printed by `--help` and the README.
extension RateLimits {
  public struct Entry: Sendable {
    /// `--rate-<name>` and `PARLEY_RATE_<NAME>`.
    public let name: String
    public let meaning: String
    public let path: any WritableKeyPath<RateLimits, Int> & Sendable
    /// The accepted values.
    public let range = 1...1_000_000

    /// The default value.
    public var value: Int { RateLimits()[keyPath: path] }
  }

  public static let all: [Entry] = [
    Entry(name: "login", meaning: "password and link attempts per address and minute", path: \.login.perMinute),
    Entry(name: "login-burst", meaning: "burst of the limit above", path: \.login.burst),
    Entry(
      name: "guessing",
      meaning: "wrong passwords and webhook URLs per name, network and day; ten times per name, and per network",
      path: \.guessing.perDay),
    Entry(name: "guessing-burst", meaning: "burst of the limit above", path: \.guessing.burst),
    Entry(
      name: "registration", meaning: "registrations per address and minute", path: \.registration.perMinute),
    Entry(name: "registration-burst", meaning: "burst of the limit above", path: \.registration.burst),
    Entry(name: "sending", meaning: "messages per user and minute", path: \.sending.perMinute),
    Entry(name: "sending-burst", meaning: "burst of the limit above", path: \.sending.burst),
    Entry(name: "writing", meaning: "other changes per user and minute", path: \.writing.perMinute),
    Entry(name: "writing-burst", meaning: "burst of the limit above", path: \.writing.burst),
    Entry(
      name: "signals",
      meaning: "typing, presence and app signals per user and minute",
      path: \.signalling.perMinute),
    Entry(name: "signals-burst", meaning: "burst of the limit above", path: \.signalling.burst),
    Entry(name: "webhooks", meaning: "messages per webhook and minute", path: \.delivering.perMinute),
    Entry(name: "webhooks-burst", meaning: "burst of the limit above", path: \.delivering.burst),
    Entry(
      name: "previews", meaning: "link previews per user and minute", path: \.previewing.perMinute),
    Entry(name: "previews-burst", meaning: "burst of the limit above", path: \.previewing.burst),
    Entry(name: "searches", meaning: "searches per user or address and minute", path: \.searching.perMinute),
    Entry(name: "searches-burst", meaning: "burst of the limit above", path: \.searching.burst),
    Entry(
      name: "digests", meaning: "digests and checkpoints of conversations per user or address and minute",
      path: \.digesting.perMinute),
    Entry(name: "digests-burst", meaning: "burst of the limit above", path: \.digesting.burst),
    Entry(name: "reports", meaning: "reports by visitors per network and day", path: \.reporting.perDay),
    Entry(name: "reports-burst", meaning: "burst of the limit above", path: \.reporting.burst),
    Entry(name: "oauth", meaning: "token requests of apps per address and minute", path: \.oauth.perMinute),
    Entry(name: "oauth-burst", meaning: "burst of the limit above", path: \.oauth.burst),
    Entry(
      name: "app-registration", meaning: "apps that register themselves per address and day",
      path: \.registeringApps.perDay),
    Entry(name: "app-registration-burst", meaning: "burst of the limit above", path: \.registeringApps.burst),
    Entry(name: "exports", meaning: "exports of own data per user and day", path: \.exporting.perDay),
    Entry(name: "exports-burst", meaning: "burst of the limit above", path: \.exporting.burst),
    Entry(name: "discovery", meaning: "contact lookups per user and day", path: \.discovery.perDay),
    Entry(name: "discovery-burst", meaning: "burst of the limit above", path: \.discovery.burst),
  ]
}

/// A token bucket: its size and its refill rate.
public struct Allowance: Sendable, Hashable {
  public var burst: Int
  public var perDay: Int

  public init(burst: Int, perDay: Int) {
    self.burst = max(burst, 1)
    self.perDay = max(perDay, 1)
  }

  public init(burst: Int, perMinute: Int) {
    self.init(burst: burst, perDay: perMinute * Self.minutesPerDay)
  }

  public var perMinute: Int {
    get { perDay / Self.minutesPerDay }
    set { perDay = max(newValue, 1) * Self.minutesPerDay }
  }

  private static let minutesPerDay = 24 * 60
}
