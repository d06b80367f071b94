// The first half of a two-step sign-in: a text that proves the password for five minutes. The server keeps no state. A new
// password, a sign-out of the user, or a restart of the server, voids it.

import ParleyCrypto
public import ParleyModel
import Storage

/// A challenge is `<user>.<end>.<signature>`, after the sign-in with a linked account
/// `<user>.<end>.<identity>.<sid in hexadecimal digits>.<signature>`.
struct SignedChallenge {
  /// In milliseconds: five minutes.
  static let life: Int64 = 300_000
  /// Longer input is no challenge.
  private static let maxBytes = 1_000

  let user: ID<User>
  /// Milliseconds since 1970.
  let expiresAt: Int64
  /// The linked account of the first step; nil for a password.
  let identity: IssuerSession?
  private let signature: String

  /// Parses a challenge from a request.
  init?(parsing text: String) {
    var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard text.utf8.count <= Self.maxBytes, parts.count == 3 || parts.count == 5, let user = ID<User>(parts[0]),
      let expiresAt = Int64(parts[1])
    else { return nil }
    (self.user, self.expiresAt, signature) = (user, expiresAt, parts.removeLast())
    guard parts.count == 4 else {
      identity = nil
      return
    }
    guard let session = IssuerSession(parts[2], parts[3]) else { return nil }
    identity = session
  }

  init(
    user: ID<User>, identity: IssuerSession?, password: String, key: [UInt8], at now: Int64
  ) throws(Refusal) {
    self.user = user
    self.identity = identity
    expiresAt = now + Self.life
    signature = try TextSignature.make(Self.purpose, Self.claim(user, expiresAt, identity, password), key: key)
  }

  var text: String { "\(user).\(expiresAt)\(identity.map { ".\($0.text)" } ?? "").\(signature)" }

  var refusal: Refusal { .secondFactorRequired(challenge: text, expiresAt: expiresAt) }

  /// - Parameter password: the stored hash.
  func isValid(password: String, key: [UInt8], at now: Int64) throws(Refusal) -> Bool {
    let isRight = try TextSignature.isRight(
      signature, Self.purpose, Self.claim(user, expiresAt, identity, password), key: key)
    return isRight && now < expiresAt
  }

  private static let purpose = "sign-in"

  private static func claim(
    _ user: ID<User>, _ expiresAt: Int64, _ identity: IssuerSession?, _ password: String
  ) -> String {
    "\(user) \(expiresAt) \(identity.map { "\($0.text) " } ?? "")\(password)"
  }
}

/// The session at an issuer that a sign-in with a linked account belongs to.
struct IssuerSession {
  let identity: ID<Identity>
  /// Its name at the issuer, if the issuer tells it.
  let sid: String?

  init(_ identity: ID<Identity>, sid: String?) {
    self.identity = identity
    self.sid = sid
  }

  fileprivate init?(_ identity: String, _ sid: String) {
    guard let identity = ID<Identity>(identity), let bytes = Hex.bytes(sid),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    self.init(identity, sid: text.isEmpty ? nil : text)
  }

  fileprivate var text: String { "\(identity).\(Hex.text(Array((sid ?? "").utf8)))" }
}

extension Community {
  /// Completes a sign-in with a code of the authenticator app or a recovery code.
  public func confirmSignIn(
    _ challenge: String, code: String, on device: String, from origin: SignInOrigin = SignInOrigin()
  ) async throws(Refusal) -> OpenedSession {
    let device = try Texts.device(device, bounds)
    guard let challenge = SignedChallenge(parsing: challenge) else { throw .invalid("challenge", .unknown) }
    let secret = try Secret.makeToken()
    let outcome: Result<OpenedSession, Refusal> = try await store.write {
      [bounds, linkKey, deviceKey, signOuts, secrets = store.secrets] tx throws(Refusal) in
      guard let linkKey else { throw .unavailable }
      guard let user = try tx.user(of: challenge, key: linkKey, signOuts) else { throw .invalid("challenge", .unknown) }
      let kind: CodeKind
      do throws(Refusal) { kind = try tx.useUp(code, of: user, secrets) } catch .invalid(let faults) {
        // The lost key of the server is not a fault of the code.
        if faults.contains(where: { $0.code == .keyLost }) { throw .invalid(faults) }
        let isUsed = faults.contains { $0.code == .used || $0.code == .noneLeft }
        // The entry is an outcome of the transaction; a wrong code has changed nothing.
        try tx.addSignIn(
          RecoveryCode.isLike(code) ? .recoveryCode : .appCode,
          isUsed ? .usedCode : .wrongCode, of: user, on: origin.name(of: device),
          from: origin.address)
        return .failure(.invalid(faults))
      }
      let factor = try tx.totp(of: user)?.confirmedAt
      let opened = try tx.activeSession(
        of: user, secret, by: kind == .recovery ? .recoveryCode : .appCode, on: device, from: origin, bounds,
        deviceKey: deviceKey, secondFactor: factor)
      // The account may have been unlinked since the first step.
      if let session = challenge.identity {
        guard try tx.identity(session.identity, of: user) != nil else { throw .invalid("challenge", .unknown) }
        try tx.note(opened.id, of: session.identity, sid: session.sid)
      }
      return .success(opened)
    }
    return try outcome.get()
  }
}

extension CommunityView {
  /// The user of a valid challenge; nil if it is invalid, expired or of an earlier start of the server.
  public func user(challengedBy text: String) throws(Refusal) -> ID<User>? {
    guard let challenge = SignedChallenge(parsing: text), let key = community.linkKey else { return nil }
    let signOuts = community.signOuts
    return try read { tx throws(Refusal) in try tx.user(of: challenge, key: key, signOuts) }
  }
}

extension ReadTransaction {
  fileprivate func user(
    of challenge: SignedChallenge, key: [UInt8], _ signOuts: SignOuts
  ) throws(Refusal) -> ID<User>? {
    guard !signOuts.hasSignedOut(challenge.user, since: challenge.expiresAt - SignedChallenge.life),
      let password = try password(of: challenge.user),
      try challenge.isValid(password: password, key: key, at: now)
    else { return nil }
    return challenge.user
  }

  /// The refusal with a challenge; nil without a second factor. Throws what a sign-in without one would.
  fileprivate func challenge(
    for user: ID<User>, identity: IssuerSession?, key: [UInt8]?
  ) throws(Refusal) -> Refusal? {
    guard try hasSecondFactor(user) else { return nil }
    if let state = try self.user(user)?.standing?.state { try checkMaySignIn(user, state) }
    guard let key, let password = try password(of: user) else { throw .unavailable }
    return try SignedChallenge(user: user, identity: identity, password: password, key: key, at: now).refusal
  }
}

extension WriteTransaction {
  /// The same, with an entry among the sign-ins: it tells the user of a thief of the password.
  func recordedChallenge(
    for user: ID<User>, identity: IssuerSession? = nil, key: [UInt8]?, by method: SignIn.Method, on device: String,
    from origin: SignInOrigin
  ) throws(Refusal) -> Refusal? {
    guard let challenge = try challenge(for: user, identity: identity, key: key) else { return nil }
    try addSignIn(method, .codeRequired, of: user, on: origin.name(of: device), from: origin.address)
    return challenge
  }
}
