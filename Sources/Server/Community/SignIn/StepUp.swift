// Step-up: sensitive operations need a proof of the last ten minutes that the session is the user's. Signing in is one.

public import ParleyModel
import Storage

extension Community {
  /// Lifetime of a proof in milliseconds: ten minutes.
  static let stepUpTime: Int64 = 600_000

  /// Proves with the password, and with a code if the user has a second factor, that the session is the user's.
  public func proveSession(password: String, code: String?, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser()
    guard let session = caller.session else { throw .notFound }
    // A token learns nothing about the password.
    let known = try await store.readInBackground(.credentials) { tx throws(Refusal) in
      try tx.session(session, of: user, current: nil)
    }
    guard known?.kind == .session else { throw .forbidden }
    try await checkPassword(password, "password", of: user)
    try await store.write { [secrets = store.secrets] tx throws(Refusal) in
      if try tx.hasSecondFactor(user) {
        guard let code else { throw .invalid("code", .missing) }
        try tx.useUp(code, of: user, secrets)
      } else if code != nil {
        throw .invalid("code", .unknownField)
      }
      try tx.prove(session)
    }
  }

  /// Throws unless this is the user's password. Returns its stored hash: a concurrent change may be committed meanwhile.
  @discardableResult
  func checkPassword(_ password: String, _ field: String, of user: ID<User>) async throws(Refusal) -> String? {
    guard password.utf8.count <= bounds.passwordBytes else { throw .invalid(field, .invalid) }
    let hash = try await store.readInBackground(.credentials) { tx throws(Refusal) in try tx.password(of: user) }
    guard try await passwords.isRight(password, for: hash) else { throw .invalid(field, .invalid) }
    return hash
  }
}

extension ReadTransaction {
  /// Whether the caller has proved within ten minutes that the session is theirs.
  func isProved(_ caller: Caller) throws(Refusal) -> Bool {
    guard let session = caller.session, let provedAt = try provedAt(session) else { return false }
    return now - provedAt < Community.stepUpTime
  }

  func proofMethods(of user: ID<User>) throws(Refusal) -> ProofMethods {
    ProofMethods(
      hasPassword: try password(of: user) != nil, needsCode: try hasSecondFactor(user),
      hasPasskey: try passkeyCount(of: user) > 0, issuers: try issuers(of: user))
  }

  /// The refusal with the methods of the user.
  func stepUpRequired(of user: ID<User>) throws(Refusal) -> Refusal {
    .stepUpRequired(try proofMethods(of: user))
  }

  /// Throws `stepUpRequired` without a new proof. A token of scope `admin` was proved when it was created, and the
  /// operator has no session.
  ///
  /// - Parameter forbidsTokens: for changes of one's own factors. A stolen token would turn off the second step, or lock its
  ///   user out.
  func requireProof(of caller: Caller, forbidsTokens: Bool = false) throws(Refusal) {
    let user = try caller.requireUser()
    guard let session = caller.session else { return }
    if try self.session(session, of: user, current: nil)?.kind == .token {
      if forbidsTokens { throw .forbidden }
      if caller.scope >= .admin { return }
    }
    guard try !isProved(caller) else { return }
    throw try stepUpRequired(of: user)
  }

  /// The caller's session. Throws for a token, and for the operator.
  func requireSession(of caller: Caller) throws(Refusal) -> ID<Session> {
    let user = try caller.requireUser()
    guard let session = caller.session, try self.session(session, of: user, current: nil)?.kind == .session else {
      throw .forbidden
    }
    return session
  }
}
