public import ParleyModel
public import Storage

/// The user or visitor making a request, with the scope of its credential.
public struct Caller: Sendable, Hashable {
  /// Nil for a visitor.
  public let user: ID<User>?
  public let role: Role?
  public let scope: Scope
  /// The session or token that authenticated the request.
  public let session: ID<Session>?
  /// The limits of the token.
  public let limits: TokenLimits
  /// Whether the user may change nothing before they set up the second factor that the site requires.
  public let lacksSecondFactor: Bool
  /// Whether the credential of a visitor was revoked.
  public private(set) var hasEndedSession = false
  /// Distinguishes visitors: the hash of the network address.
  private var network = 0

  public static let visitor = Caller(user: nil, role: nil, scope: .read, session: nil)

  /// A visitor from a network address, by its hash.
  public static func visitor(network: Int, hasEndedSession: Bool = false) -> Caller {
    var visitor = visitor
    visitor.network = network
    visitor.hasEndedSession = hasEndedSession
    return visitor
  }

  public init(
    user: ID<User>?, role: Role?, scope: Scope, session: ID<Session>?, limits: TokenLimits = TokenLimits(),
    lacksSecondFactor: Bool = false
  ) {
    self.limits = limits
    self.lacksSecondFactor = lacksSecondFactor
    self.user = user
    self.role = role
    self.scope = scope
    self.session = session
  }

  /// The caller's turn in the queues for background work.
  public var turn: Turn { user.map { .user($0) } ?? .visitor(network: network) }

  /// The forums that the token reaches; nil without such a limit.
  public var forums: Set<ID<Forum>>? { limits.forums }

  /// Whether the caller may follow the presence of users and the signals of apps. They would reveal other users to guests.
  public var mayFollowPresence: Bool { role != nil && role != .guest && forums == nil }

  /// Whether the credential reads what the user alone sees: neither that of the profile nor a token of forums does.
  public var readsWholeSite: Bool { user != nil && scope >= .read && forums == nil }

  /// Whether the token reaches a conversation of this forum, or one outside of forums.
  func reaches(_ forum: ID<Forum>?) -> Bool {
    guard let forums else { return true }
    return forum.map(forums.contains) ?? false
  }

  /// The token, if it is limited to forums.
  var limitedToken: ID<Session>? { forums == nil ? nil : session }

  /// Throws if the token is limited to forums.
  public func requireWholeSite() throws(Refusal) {
    guard forums == nil else { throw .forbidden }
  }

  /// The caller's user id. Throws for a visitor.
  public func requireUser() throws(Refusal) -> ID<User> {
    guard let user else { throw hasEndedSession ? .sessionEnded : .unauthenticated }
    return user
  }

  /// The caller's user id. Throws unless the credential has this scope.
  public func requireUser(_ scope: Scope) throws(Refusal) -> ID<User> {
    let user = try requireUser()
    guard self.scope >= scope else { throw .forbidden }
    return user
  }
}
