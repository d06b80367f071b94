import ParleyModel

/// The authenticator's statement (WebAuthn §6.1): the site that it is for, and how the user was seen.
struct AuthenticatorData: Hashable, Sendable {
  let siteDigest: [UInt8]
  let flags: Flags
  let signCount: UInt32
  /// Only in the answer to a registration.
  let credential: Credential?

  struct Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let userPresent = Flags(rawValue: 1)
    static let userVerified = Flags(rawValue: 1 << 2)
    static let backupEligible = Flags(rawValue: 1 << 3)
    static let backedUp = Flags(rawValue: 1 << 4)
    static let hasCredential = Flags(rawValue: 1 << 6)
    static let hasExtensions = Flags(rawValue: 1 << 7)
  }

  /// Attested credential data (§6.5.1).
  struct Credential: Hashable, Sendable {
    let id: [UInt8]
    /// The key in COSE, in the bytes of the authenticator.
    let key: [UInt8]
    let keyValue: CBORValue
  }

  /// WebAuthn §6.5.1: longer ids are refused.
  static let maxIDBytes = 1_023
  private static let digestBytes = 32
  private static let aaguidBytes = 16
  /// Up to the counter.
  private static let headBytes = digestBytes + 5

  init(_ bytes: [UInt8]) throws(PasskeyFault) {
    guard Self.headBytes...CBORReader.maxBytes ~= bytes.count else { throw .malformed }
    siteDigest = Array(bytes[..<Self.digestBytes])
    flags = Flags(rawValue: bytes[Self.digestBytes])
    signCount = bytes[(Self.digestBytes + 1)..<Self.headBytes].reduce(0) { $0 << 8 | UInt32($1) }
    var offset = Self.headBytes
    credential = flags.contains(.hasCredential) ? try Self.credential(of: bytes, from: &offset) : nil
    if flags.contains(.hasExtensions) {
      // Outputs of extensions; none was asked for.
      let outputs = try Self.value(of: bytes, from: &offset)
      guard outputs.pairCount != nil else { throw .malformed }
    }
    guard offset == bytes.count else { throw .malformed }
  }

  private static func credential(of bytes: [UInt8], from offset: inout Int) throws(PasskeyFault) -> Credential {
    let idStart = offset + aaguidBytes + 2
    guard idStart <= bytes.count else { throw .malformed }
    let count = Int(bytes[idStart - 2]) << 8 | Int(bytes[idStart - 1])
    guard count <= maxIDBytes else { throw .idTooLong }
    let keyStart = idStart + count
    guard count > 0, keyStart <= bytes.count else { throw .malformed }
    offset = keyStart
    let key = try value(of: bytes, from: &offset)
    return Credential(
      id: Array(bytes[idStart..<keyStart]), key: Array(bytes[keyStart..<offset]), keyValue: key)
  }

  private static func value(of bytes: [UInt8], from offset: inout Int) throws(PasskeyFault) -> CBORValue {
    do throws(CBORError) {
      let (value, end) = try CBORReader.value(startingAt: offset, of: bytes)
      offset = end
      return value
    } catch {
      throw .malformed
    }
  }
}
