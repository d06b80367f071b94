// Verification of a sign-in or a proof by a passkey (WebAuthn level 3 §7.2).

import ParleyCrypto
public import ParleyModel

/// The answer to a request for a passkey, read but not verified.
public struct Assertion: Sendable, Hashable {
  public let challenge: [UInt8]
  public let credentialID: [UInt8]
  /// Handle of the user that the authenticator names; nil if it names none.
  public let userHandle: [UInt8]?
  public let signCount: Int
  public var isBackedUp: Bool { data.flags.contains(.backedUp) }

  private let clientData: ClientData
  private let data: AuthenticatorData
  private let dataBytes: [UInt8]
  private let signature: [UInt8]
  private let party: RelyingParty

  /// More than a signature of RSA has.
  private static let maxSignatureBytes = 1_024

  /// - Throws: for the ceremony, the page, and unreadable bytes.
  public init(_ answer: PasskeyAssertion, at party: RelyingParty) throws(PasskeyFault) {
    self.party = party
    clientData = try ClientData(Base64URL.decode(answer.clientData), of: .assertion, at: party)
    challenge = clientData.challenge
    credentialID = try Base64URL.decode(answer.id)
    guard 1...AuthenticatorData.maxIDBytes ~= credentialID.count else { throw .idTooLong }
    userHandle = try answer.userHandle.flatMap { text throws(PasskeyFault) in
      text.isEmpty ? nil : try Base64URL.decode(text)
    }
    dataBytes = try Base64URL.decode(answer.authenticatorData)
    data = try AuthenticatorData(dataBytes)
    guard data.credential == nil else { throw .malformed }
    signature = try Base64URL.decode(answer.signature)
    guard signature.count <= Self.maxSignatureBytes else { throw .malformed }
    signCount = Int(data.signCount)
  }

  /// Checks the site, the user, the state of the backup and the signature. The counter is left to the caller, which compares it
  /// in the transaction that stores it.
  ///
  /// - Parameters:
  ///   - key: COSE_Key.
  ///   - userHandle: of the passkey's user.
  ///   - requiresHandle: whether the authenticator has to name the user: without a list of passkeys it does (§7.2, step 6).
  public func verify(
    key: [UInt8], userHandle: [UInt8], requiresHandle: Bool, isBackupEligible: Bool
  ) throws(PasskeyFault) {
    guard let named = self.userHandle else {
      if requiresHandle { throw .otherUser }
      return try verify(key, isBackupEligible)
    }
    guard named == userHandle else { throw .otherUser }
    try verify(key, isBackupEligible)
  }

  private func verify(_ key: [UInt8], _ isBackupEligible: Bool) throws(PasskeyFault) {
    try data.check(at: party)
    guard data.flags.contains(.backupEligible) == isBackupEligible else { throw .backupState }
    let key = try COSEKey(key)
    guard let digest = try? Digest.sha256(of: clientData.bytes),
      (try? key.isSignature(signature, of: dataBytes + digest)) == true
    else { throw .signature }
  }

  /// Whether the counter is above the last one. Authenticators without a counter send 0 (§6.1.1).
  public static func isAhead(_ signCount: Int, of last: Int) -> Bool {
    signCount > last || signCount == 0 && last == 0
  }
}
