public import ParleyModel

/// The user or visitor making a request, with the scope of its credential.
public struct Caller: Sendable, Hashable {
  /// Nil for a visitor.
  public let user: ID<User>?
  public let role: Role?
  public let scope: Scope
  /// The session or token that authenticated the request.
  public let session: ID<Session>?

  public static let visitor = Caller(user: nil, role: nil, scope: .read, session: nil)

  public init(user: ID<User>?, role: Role?, scope: Scope, session: ID<Session>?) {
    self.user = user
    self.role = role
    self.scope = scope
    self.session = session
  }

  /// The caller's user id. Throws for a visitor.
  public func requireUser() throws(Refusal) -> ID<User> {
    guard let user else { throw .unauthenticated }
    return user
  }

  /// The caller's user id. Throws unless the credential has this scope.
  public func requireUser(_ scope: Scope) throws(Refusal) -> ID<User> {
    let user = try requireUser()
    guard self.scope >= scope else { throw .forbidden }
    return user
  }
}
