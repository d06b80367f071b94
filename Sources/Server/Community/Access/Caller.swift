public import ParleyModel

/// Who asks, and by what right.
public struct Caller: Sendable, Hashable {
  /// Nil for nobody: a visitor without an account.
  public let account: ID<Account>?
  public let role: Role?
  public let scope: Scope
  /// The session or token by which they came.
  public let session: ID<Session>?

  public static let nobody = Caller(account: nil, role: nil, scope: .read, session: nil)

  public init(account: ID<Account>?, role: Role?, scope: Scope, session: ID<Session>?) {
    self.account = account
    self.role = role
    self.scope = scope
    self.session = session
  }

  /// The person, where only a person can ask.
  public func person() throws(Refusal) -> ID<Account> {
    guard let account else { throw .unauthenticated }
    return account
  }

  /// The person, for something that this way in is good for.
  public func person(for scope: Scope) throws(Refusal) -> ID<Account> {
    let account = try person()
    guard self.scope >= scope else { throw .forbidden }
    return account
  }
}
