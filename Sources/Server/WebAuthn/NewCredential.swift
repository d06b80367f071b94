// Verification of a new passkey (WebAuthn level 3 §7.1). The challenge is checked by the caller, because only it knows which
// ones it has given.

import ParleyCrypto
public import ParleyModel

/// The credential of a registration, with all of its checks passed but that of the challenge.
public struct NewCredential: Sendable, Hashable {
  public let challenge: [UInt8]
  public let credentialID: [UInt8]
  /// COSE_Key.
  public let key: [UInt8]
  public let signCount: Int
  public let isBackupEligible: Bool
  public let isBackedUp: Bool
  public let transports: [String]

  /// Transports are hints (§5.8.4). Unknown ones are kept for later browsers.
  private static let maxTransports = 8
  private static let maxTransportBytes = 32

  public init(_ answer: PasskeyRegistration, at party: RelyingParty) throws(PasskeyFault) {
    let clientData = try ClientData(Base64URL.decode(answer.clientData), of: .registration, at: party)
    guard let object = try? CBORReader.value(of: Base64URL.decode(answer.attestation)),
      case .text = object["fmt"], let statement = object["attStmt"], statement.pairCount != nil,
      let bytes = object["authData"]?.byteString, object.pairCount == 3
    else { throw .malformed }
    // The statement is not trusted: no attestation was asked for, so its format does not matter (§7.1, step 22).
    let data = try AuthenticatorData(bytes)
    try data.check(at: party)
    guard let credential = data.credential else { throw .malformed }
    _ = try COSEKey(credential.keyValue)
    guard try Base64URL.decode(answer.id) == credential.id else { throw .malformed }
    challenge = clientData.challenge
    credentialID = credential.id
    key = credential.key
    signCount = Int(data.signCount)
    isBackupEligible = data.flags.contains(.backupEligible)
    isBackedUp = data.flags.contains(.backedUp)
    transports = Array(
      answer.transports.filter { name in
        1...Self.maxTransportBytes ~= name.utf8.count
          && name.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "-") }
      }.prefix(Self.maxTransports))
  }
}

extension AuthenticatorData {
  /// The checks of both ceremonies: the site, the user, and the state of the backup (§7.1, steps 14 to 18).
  func check(at party: RelyingParty) throws(PasskeyFault) {
    guard let digest = try? Digest.sha256(of: Array(party.id.utf8)), ConstantTime.isEqual(siteDigest, digest) else {
      throw .wrongSite
    }
    guard flags.contains(.userPresent) else { throw .userAbsent }
    guard flags.contains(.userVerified) else { throw .notVerified }
    guard flags.contains(.backupEligible) || !flags.contains(.backedUp) else { throw .backupState }
  }
}
