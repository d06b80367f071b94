// The second factor of sign-in: codes of an authenticator app (RFC 6238), and recovery codes.

import ParleyCrypto
public import ParleyModel
import Storage

extension CommunityView {
  public func getSecondFactor(for caller: Caller) throws(Refusal) -> SecondFactor {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let since = try tx.secondFactorRequiredSince(user)
      return SecondFactor(
        enabledAt: try tx.totp(of: user)?.confirmedAt, recoveryCodesLeft: try tx.recoveryCodeCount(of: user),
        isRequired: since != nil, dueAt: since.map { $0 + SecondFactor.grace })
    }
  }
}

extension Community {
  /// Makes a secret for an authenticator app. It is of no effect until a code confirms it.
  public func setUpSecondFactor(by caller: Caller) async throws(Refusal) -> SecondFactorSetup {
    let user = try caller.requireUser(.admin)
    let (secret, sealed): ([UInt8], [UInt8])
    do {
      secret = try SecureRandom.bytes(OneTimePassword.secretBytes)
      sealed = try store.secrets.seal(secret, for: TOTP.context(of: user))
    } catch {
      throw .unavailable
    }
    return try await store.write { tx throws(Refusal) in
      try tx.requireProof(of: caller, forbidsTokens: true)
      guard try !tx.hasSecondFactor(user) else { throw .conflict }
      guard let name = try tx.user(user)?.summary.name, try tx.password(of: user) != nil else { throw .forbidden }
      try tx.setTOTP(sealed, of: user)
      let text = Base32.text(secret)
      return SecondFactorSetup(secret: text, url: TOTP.address(text, site: try tx.settings().name, user: name))
    }
  }

  /// Confirms the app with a code. Other sessions and all tokens end unless they are kept.
  public func enableSecondFactor(
    _ code: String, keepsSessions: Bool, by caller: Caller
  ) async throws(Refusal) -> RecoveryCodes {
    let user = try caller.requireUser(.admin)
    let codes = try RecoveryCode.make()
    return try await store.write { [secrets = store.secrets] tx throws(Refusal) in
      try tx.requireProof(of: caller, forbidsTokens: true)
      guard let app = try tx.totp(of: user), app.confirmedAt == nil else { throw .conflict }
      try tx.useUp(code, of: app, user, secrets, isSetup: true)
      try tx.confirmTOTP(of: user)
      try tx.setRecoveryCodes(digests: codes.map(\.digest), of: user)
      try tx.addNotification(.secondFactorEnabled, of: user, by: user)
      if !keepsSessions { try tx.endSessions(of: user, except: caller.session, keepsTokens: false) }
      return RecoveryCodes(codes: codes.map(\.text))
    }
  }

  /// Replaces the recovery codes.
  public func createRecoveryCodes(by caller: Caller) async throws(Refusal) -> RecoveryCodes {
    let user = try caller.requireUser(.admin)
    let codes = try RecoveryCode.make()
    return try await store.write { tx throws(Refusal) in
      try tx.requireProof(of: caller, forbidsTokens: true)
      guard try tx.hasSecondFactor(user) else { throw .conflict }
      try tx.setRecoveryCodes(digests: codes.map(\.digest), of: user)
      try tx.addNotification(.recoveryCodesCreated, of: user, by: user)
      return RecoveryCodes(codes: codes.map(\.text))
    }
  }

  /// Returns to sign-in with the password alone. Other sessions and all tokens end unless they are kept. No-op without
  /// a second factor.
  public func disableSecondFactor(keepsSessions: Bool, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      try tx.requireProof(of: caller, forbidsTokens: true)
      guard try tx.removeSecondFactor(of: user) else { return }
      try tx.addNotification(.secondFactorDisabled, of: user, by: user)
      if keepsSessions { return }
      try tx.endSessions(of: user, except: caller.session, keepsTokens: false)
    }
  }

  /// Removes the second factor and the passkeys of a user who has lost them, and ends their sessions. No-op without any.
  public func resetSecondFactor(of reference: UserReference, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      try tx.requireReset(of: user, rights, by: caller)
      let id = user.summary.id
      let (hadCodes, hadPasskeys) = (try tx.removeSecondFactor(of: id), try tx.deletePasskeys(of: id))
      guard hadCodes || hadPasskeys else { return }
      try tx.endSessions(of: id, except: caller.session, keepsTokens: true)
      if hadCodes { try tx.addNotification(.secondFactorDisabled, of: id, by: actor) }
      if hadPasskeys { try tx.addNotification(.passkeyDeleted, of: id, by: actor) }
      try tx.audit(.secondFactorReset, by: actor, subject: id.number)
    }
  }
}

extension ReadTransaction {
  /// Throws unless the caller may reset a password or second factor of the user. Users do not reset their own, except
  /// for the operator, who has no session: a stolen session or token would take the account over. For the same reason
  /// a token resets nothing of the staff.
  func requireReset(of user: User, _ rights: UserRights, by caller: Caller) throws(Refusal) {
    guard rights.contains(.govern), caller.session == nil || caller.user != user.summary.id else { throw .forbidden }
    try requireProof(of: caller, forbidsTokens: user.summary.role.isStaff)
  }
}

private enum TOTP {
  /// Codes of the steps before and after are taken, too (RFC 6238 §5.2).
  static let drift = 1
  /// Steps in which a code tells that the clock of the device is wrong: an hour.
  static let maxDrift = 120

  static func context(of user: ID<User>) -> String { "totp \(user)" }

  /// The address of a QR code, in the format of the authenticator apps. SHA-1, six digits and 30 s are the defaults that
  /// all of them know.
  static func address(_ secret: String, site: String, user: String) -> String {
    let issuer = percentEncoded(site)
    return "otpauth://totp/\(issuer):\(percentEncoded(user))?secret=\(secret)&issuer=\(issuer)"
  }

  /// Keeps the unreserved characters of RFC 3986 §2.3.
  private static func percentEncoded(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default: encoded += Array("%\(Hex.text([byte]).uppercased())".utf8)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}

/// The kind of an accepted code.
enum CodeKind { case app, recovery }

/// A code of 80 random bits, in base 32. Its digest is stored.
struct RecoveryCode {
  static let count = 10
  static let byteCount = 10
  private static let groupLength = 4

  let text: String
  let digest: [UInt8]

  static func make() throws(Refusal) -> [RecoveryCode] {
    do {
      return try (0..<count).map { _ in
        let digits = Base32.text(try SecureRandom.bytes(byteCount))
        let groups = stride(from: 0, to: digits.utf8.count, by: groupLength).map {
          String(digits.dropFirst($0).prefix(groupLength))
        }
        return RecoveryCode(text: groups.joined(separator: "-"), digest: try Digest.sha256(of: Array(digits.utf8)))
      }
    } catch {
      throw .unavailable
    }
  }

  static func isLike(_ text: String) -> Bool { digest(of: text.filter { $0 != " " && $0 != "-" }) != nil }

  /// The digest of a typed code; nil if it is none.
  static func digest(of text: String) -> [UInt8]? {
    guard let bytes = Base32.bytes(text), bytes.count == byteCount else { return nil }
    return try? Digest.sha256(of: Array(Base32.text(bytes).utf8))
  }
}

extension WriteTransaction {
  /// Longer input is no code.
  private static let maxCodeBytes = 64

  /// Takes a code of the user's app, or a recovery code, out of use. Throws if it is wrong.
  @discardableResult
  func useUp(_ code: String, of user: ID<User>, _ secrets: SealedBox) throws(Refusal) -> CodeKind {
    guard let app = try totp(of: user), app.confirmedAt != nil else { throw .conflict }
    guard code.utf8.count <= Self.maxCodeBytes else { throw .invalid("code", .invalid) }
    let typed = code.filter { $0 != " " && $0 != "-" }
    guard let digest = RecoveryCode.digest(of: typed) else {
      try useUp(typed, of: app, user, secrets, isSetup: false)
      return .app
    }
    switch try useUp(recoveryCode: digest, of: user) {
    case .taken:
      try addNotification(.recoveryCodeUsed, of: user, by: user)
      return .recovery
    case .alreadyUsed: throw .invalid("code", try recoveryCodeCount(of: user) > 0 ? .used : .noneLeft)
    case .unknown: throw .invalid("code", .invalid)
    }
  }

  /// Takes a code of an app out of use.
  func useUp(
    _ code: String, of app: StoredTOTP, _ user: ID<User>, _ secrets: SealedBox, isSetup: Bool
  ) throws(Refusal) {
    let typed = code.filter { $0 != " " }
    guard typed.utf8.count == OneTimePassword.digits else { throw .invalid("code", .invalid) }
    let current = OneTimePassword.step(at: now)
    let (found, late): (Int?, Int?)
    do {
      guard let secret = try secrets.open(app.secret, for: TOTP.context(of: user)) else {
        throw Refusal.invalid("code", .keyLost)
      }
      found = try OneTimePassword.step(of: typed, secret, among: current - TOTP.drift...current + TOTP.drift)
      // A code of later helps to guess one, except for the user who has just got the secret.
      let end = current + (isSetup ? TOTP.maxDrift : 0)
      late = try OneTimePassword.step(of: typed, secret, among: current - TOTP.maxDrift...end)
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw .unavailable
    }
    guard let found else { throw .invalid("code", late == nil ? .invalid : .clockOff) }
    guard found > app.lastStep else { throw .invalid("code", .used) }
    try useUp(step: found, of: user)
  }
}
