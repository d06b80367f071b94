// Challenges of passkeys. The server keeps no state until one is answered: a challenge is signed, and its digest is stored
// from its use until its end, so that it is used once.

import ParleyCrypto
import ParleyModel
import Storage

/// A challenge is 16 random bytes, its end, and a signature over both, its purpose and its session.
struct PasskeyChallenge {
  enum Purpose: String {
    case register, signIn, prove
  }

  /// In milliseconds: five minutes.
  static let life: Int64 = 300_000
  private static let randomBytes = 16
  private static let timeBytes = 8
  private static let keyPurpose = "passkey challenge"

  let bytes: [UInt8]
  /// Milliseconds since 1970.
  let expiresAt: Int64

  /// - Parameter session: nil for a sign-in.
  init(_ purpose: Purpose, for session: ID<Session>?, _ secrets: SealedBox, at now: Int64) throws(Refusal) {
    do {
      expiresAt = now + Self.life
      let time = (0..<Self.timeBytes).reversed().map { [expiresAt] in UInt8(truncatingIfNeeded: expiresAt >> ($0 * 8)) }
      let head = try SecureRandom.bytes(Self.randomBytes) + time
      bytes = head + (try Self.signature(of: head, purpose, session, secrets))
    } catch {
      throw .unavailable
    }
  }

  /// Checks that the server gave this challenge for the purpose and the session, and that it has not expired.
  init(
    checking bytes: [UInt8], _ purpose: Purpose, for session: ID<Session>?, _ secrets: SealedBox, at now: Int64
  ) throws(Refusal) {
    let head = Array(bytes.prefix(Self.randomBytes + Self.timeBytes))
    let signature: [UInt8]
    do { signature = try Self.signature(of: head, purpose, session, secrets) } catch { throw .unavailable }
    guard ConstantTime.isEqual(bytes, head + signature) else { throw .passkey(.challengeUnknown) }
    self.bytes = bytes
    expiresAt = head.suffix(Self.timeBytes).reduce(0) { $0 << 8 | Int64($1) }
    guard now < expiresAt else { throw .passkey(.challengeExpired) }
  }

  private static func signature(
    of head: [UInt8], _ purpose: Purpose, _ session: ID<Session>?, _ secrets: SealedBox
  ) throws -> [UInt8] {
    let claim = "\(purpose.rawValue) \(session.map { "\($0)" } ?? "-") "
    return try HMAC.sha256(of: Array(claim.utf8) + head, key: try secrets.derivedKey(for: keyPurpose))
  }
}

extension WriteTransaction {
  /// Takes a challenge out of use. Throws if it was used before.
  func useUp(_ challenge: PasskeyChallenge) throws(Refusal) {
    let digest: [UInt8]
    do { digest = try Digest.sha256(of: challenge.bytes) } catch { throw .unavailable }
    guard try useUp(challenge: digest, until: challenge.expiresAt) else { throw .passkey(.challengeUsed) }
  }
}

extension Refusal {
  /// A failed check of the member `credential`.
  static func passkey(_ fault: PasskeyFault) -> Refusal { .invalid("credential", .passkey(fault)) }
}
