import ParleyCrypto
import ParleyModel
import TestSupport
import Testing

@testable import WebAuthn

/// Valid answers of each algorithm, and the same with one change for each check.
@Suite struct CeremonyTests {
  static let party = RelyingParty(
    host: "chat.example.org", origins: ["https://chat.example.org", "https://parley.example"])
  static let challenge = "m0FbUqDXCyYzSg5sVmR3KQ"

  static func authenticator(_ algorithm: Int = -7) throws -> SoftwareAuthenticator {
    var made = try SoftwareAuthenticator(.make(algorithm), at: "https://chat.example.org", host: "chat.example.org")
    made.userHandle = Array("7".utf8)
    return made
  }

  static func register(_ authenticator: SoftwareAuthenticator) throws -> NewCredential {
    try NewCredential(try authenticator.create(challenge), at: try #require(party))
  }

  static func verify(
    _ answer: PasskeyAssertion, _ key: [UInt8], handle: String = "7", requiresHandle: Bool = true,
    isBackupEligible: Bool = true
  ) throws {
    try Assertion(answer, at: try #require(party)).verify(
      key: key, userHandle: Array(handle.utf8), requiresHandle: requiresHandle, isBackupEligible: isBackupEligible)
  }

  @Test(arguments: COSEKey.algorithms)
  func `a passkey of each algorithm is registered and signs`(algorithm: Int) throws {
    var authenticator = try Self.authenticator(algorithm)
    authenticator.signCount = 7
    let made = try Self.register(authenticator)
    #expect(Base64URL.text(made.challenge) == Self.challenge)
    #expect(made.credentialID == authenticator.credentialID && made.signCount == 7)
    #expect(made.isBackupEligible && made.isBackedUp && made.transports == ["internal", "hybrid"])
    #expect(made.key == SoftwareAuthenticator.coseKey(of: authenticator.key))
    authenticator.signCount = 0x0102_0304
    let answer = try authenticator.get(Self.challenge)
    try Self.verify(answer, made.key)
    let read = try Assertion(answer, at: try #require(Self.party))
    #expect(read.signCount == 0x0102_0304 && read.isBackedUp && read.userHandle == Array("7".utf8))
    // Another key, and each changed byte of the signature.
    let other = SoftwareAuthenticator.coseKey(of: try .make(algorithm))
    #expect(throws: PasskeyFault.signature) { try Self.verify(answer, other) }
    let signature = try Base64URL.decode(answer.signature)
    for index in stride(from: 0, to: signature.count, by: max(1, signature.count / 32)) {
      var changed = signature
      changed[index] ^= 1
      var answer = answer
      answer.signature = Base64URL.text(changed)
      #expect(throws: PasskeyFault.signature, "byte \(index)") { try Self.verify(answer, made.key) }
    }
    for changed in [[], Array(signature.dropLast()), signature + [0]] {
      var answer = answer
      answer.signature = Base64URL.text(changed)
      #expect(throws: PasskeyFault.signature) { try Self.verify(answer, made.key) }
    }
    // Another challenge, which the signature covers.
    var moved = try authenticator.get("AAAA")
    moved.signature = answer.signature
    #expect(throws: PasskeyFault.signature) { try Self.verify(moved, made.key) }
  }

  /// Rows: a change of an answer of either ceremony, and the check that fails.
  static let changes: [(PasskeyFault, @Sendable (inout SoftwareAuthenticator) -> Void)] = [
    (.wrongType, { $0.type = "webauthn.other" }), (.wrongType, { $0.type = "" }),
    (.wrongOrigin, { $0.origin = "https://chat.example.com" }),
    (.wrongOrigin, { $0.origin = "http://chat.example.org" }),
    (.wrongOrigin, { $0.origin = "https://chat.example.org/" }),
    (.wrongOrigin, { $0.origin = "https://chat.example.org:8443" }),
    (.crossOrigin, { $0.clientData = #","crossOrigin":true"# }),
    (.crossOrigin, { $0.clientData = #","crossOrigin":false,"topOrigin":"https://evil.example""# }),
    (.malformed, { $0.clientData = #","crossOrigin":1"# }), (.malformed, { $0.clientData = #","origin":"x""# }),
    (.malformed, { $0.clientData = "," }), (.wrongSite, { $0.host = "example.org" }),
    (.wrongSite, { $0.host = "CHAT.example.org" }), (.userAbsent, { $0.flags = 0b0001_1100 }),
    (.notVerified, { $0.flags = 0b0001_1001 }), (.backupState, { $0.flags = 0b0001_0101 }),
    (.malformed, { $0.trailing = [0] }),
    // Extensions that are announced and missing, or no map.
    (.malformed, { $0.flags |= 0b1000_0000 }),
    (
      .malformed,
      {
        $0.flags |= 0b1000_0000
        $0.trailing = [0x80]
      }
    ),
  ]

  @Test(arguments: changes.indices)
  func `each check refuses its change`(row: Int) throws {
    let (fault, change) = Self.changes[row]
    let genuine = try Self.authenticator()
    let key = try Self.register(genuine).key
    var changed = genuine
    change(&changed)
    #expect(throws: fault) { try Self.register(changed) }
    #expect(throws: fault) { try Self.verify(try changed.get(Self.challenge), key) }
  }

  @Test func `harmless differences are accepted`() throws {
    let changes: [(inout SoftwareAuthenticator) -> Void] = [
      { $0.origin = "https://parley.example" },
      { $0.clientData = #","crossOrigin":false,"later":{"a":[1]}"# },
      { $0.clientData = #","topOrigin":"https://chat.example.org""# },
      {
        $0.flags |= 0b1000_0000
        // Outputs of extensions: {"credProtect": 2}.
        $0.trailing = [0xa1, 0x6b] + Array("credProtect".utf8) + [2]
      },
      { $0.format = "packed" },
    ]
    for change in changes {
      var authenticator = try Self.authenticator()
      change(&authenticator)
      let key = try Self.register(authenticator).key
      #expect(throws: Never.self) { try Self.verify(try authenticator.get(Self.challenge), key) }
    }
  }

  @Test func `ids have a limit`() throws {
    var authenticator = try Self.authenticator()
    authenticator.credentialID = [UInt8](repeating: 1, count: 1_023)
    #expect(throws: Never.self) { try Self.register(authenticator) }
    authenticator.credentialID += [1]
    #expect(throws: PasskeyFault.idTooLong) { try Self.register(authenticator) }
    #expect(throws: PasskeyFault.idTooLong) {
      try Assertion(try authenticator.get("AAAA"), at: try #require(Self.party))
    }
    authenticator.credentialID = []
    #expect(throws: PasskeyFault.malformed) { try Self.register(authenticator) }
  }

  @Test func `keys of other algorithms and off the curve are refused`() throws {
    let point = try P256().point
    let (x, y) = (Array(point[1...32]), Array(point[33...64]))
    let (rsa, ed) = (try RSA(), try Ed25519())
    func ec(alg algorithm: UInt8 = 0x26, curve: UInt8 = 1, _ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
      [0xa5, 1, 2, 3, algorithm, 0x20, curve, 0x21, 0x58, UInt8(x.count)] + x + [0x22, 0x58, UInt8(y.count)] + y
    }
    func okp(_ x: [UInt8], curve: UInt8 = 6) -> [UInt8] {
      [0xa4, 1, 1, 3, 0x27, 0x20, curve, 0x21, 0x58, UInt8(x.count)] + x
    }
    // 2 is no y of a point, and p + 1 is not reduced.
    let (off, big) = ([2] + [UInt8](repeating: 0, count: 31), [0xee] + [UInt8](repeating: 0xff, count: 30) + [0x7f])
    var even = rsa.modulus
    even[even.count - 1] &= 0xfe
    let short = [UInt8](repeating: 0xff, count: 255)
    let rows: [([UInt8], PasskeyFault)] = [
      (ec(alg: 0x38, x, y), .malformed), ([0xa5, 1, 2, 3, 0x38, 0x22] + ec(x, y).dropFirst(5), .algorithm),
      (ec(alg: 0x27, x, y), .key), (ec(curve: 2, x, y), .key), (ec(x, x), .key),
      (ec(x, y.map { $0 ^ 1 }), .key), (ec([0] + x, y), .key), (ec(x, Array(y.dropLast())), .key),
      // Compressed, and with a member more.
      ([0xa5] + ec(x, y)[1..<42] + [0x22, 0xf5], .key), ([0xa6] + ec(x, y).dropFirst() + [2, 0x40], .key),
      (okp(off), .key), (okp(big), .key), (okp(ed.point, curve: 4), .key), (okp(ed.point + [0]), .key),
      (SoftwareAuthenticator.rsaKey(modulus: short, exponent: [1, 0, 1]), .key),
      (SoftwareAuthenticator.rsaKey(modulus: [0] + rsa.modulus, exponent: [1, 0, 1]), .key),
      (SoftwareAuthenticator.rsaKey(modulus: even, exponent: [1, 0, 1]), .key),
      (SoftwareAuthenticator.rsaKey(modulus: rsa.modulus, exponent: [1]), .key),
      (SoftwareAuthenticator.rsaKey(modulus: rsa.modulus, exponent: [2]), .key),
      (SoftwareAuthenticator.rsaKey(modulus: rsa.modulus, exponent: []), .key),
      (SoftwareAuthenticator.rsaKey(modulus: rsa.modulus, exponent: [1, 0, 0, 0, 1]), .key),
      (SoftwareAuthenticator.rsaKey(modulus: [UInt8](repeating: 0xff, count: 1_025), exponent: [3]), .key),
      ([0xa0], .malformed), ([0x80], .malformed), ([], .malformed),
    ]
    for (index, (key, fault)) in rows.enumerated() {
      var authenticator = try Self.authenticator()
      authenticator.coseKey = key
      #expect(throws: fault, "row \(index)") { try Self.register(authenticator) }
    }
    for algorithm in COSEKey.algorithms {
      #expect(throws: Never.self) { try COSEKey(SoftwareAuthenticator.coseKey(of: try .make(algorithm))) }
    }
  }

  @Test func `the user and the backup are those of the registration`() throws {
    var authenticator = try Self.authenticator()
    let key = try Self.register(authenticator).key
    let answer = try authenticator.get(Self.challenge)
    #expect(throws: PasskeyFault.otherUser) { try Self.verify(answer, key, handle: "8") }
    #expect(throws: PasskeyFault.otherUser) { try Self.verify(answer, key, handle: "8", requiresHandle: false) }
    #expect(throws: PasskeyFault.backupState) { try Self.verify(answer, key, isBackupEligible: false) }
    authenticator.userHandle = []
    let unnamed = try authenticator.get(Self.challenge)
    #expect(throws: PasskeyFault.otherUser) { try Self.verify(unnamed, key) }
    #expect(throws: Never.self) { try Self.verify(unnamed, key, requiresHandle: false) }
  }

  @Test func `an answer of one ceremony is none of the other`() throws {
    var authenticator = try Self.authenticator()
    let key = try Self.register(authenticator).key
    authenticator.type = "webauthn.get"
    #expect(throws: PasskeyFault.wrongType) { try Self.register(authenticator) }
    authenticator.type = "webauthn.create"
    #expect(throws: PasskeyFault.wrongType) { try Self.verify(try authenticator.get(Self.challenge), key) }
  }

  @Test func `an attestation object has its three members`() throws {
    let answer = try Self.authenticator().create(Self.challenge)
    let object = try Base64URL.decode(answer.attestation)
    var fourth = object
    fourth[0] = 0xa4
    for bytes in [[], [0xa0], object + [0], Array(object.dropLast()), fourth + [0x61, 0x78, 0xa0], [0x80]] {
      var changed = answer
      changed.attestation = Base64URL.text(bytes)
      #expect(throws: PasskeyFault.malformed) { try NewCredential(changed, at: try #require(Self.party)) }
    }
    // The id beside it is another one.
    var other = answer
    other.id = Base64URL.text([1, 2, 3])
    #expect(throws: PasskeyFault.malformed) { try NewCredential(other, at: try #require(Self.party)) }
    for text in ["=", "a", "a b", "+/"] {
      var changed = answer
      changed.attestation = text
      #expect(throws: PasskeyFault.malformed) { try NewCredential(changed, at: try #require(Self.party)) }
    }
  }

  @Test(arguments: [(1, 0, true), (5, 4, true), (0, 0, true), (0, 1, false), (4, 4, false), (3, 4, false)])
  func `a counter rises, or stays at zero`(next: Int, last: Int, isAhead: Bool) {
    #expect(Assertion.isAhead(next, of: last) == isAhead)
  }

  @Test(arguments: [
    ("chat.example.org", true), ("localhost", true), ("Chat.Example", true), ("127.0.0.1", false), ("::1", false),
    ("[::1]", false), ("", false), ("10.1", false),
  ])
  func `a relying party has a host name`(host: String, isNamed: Bool) {
    #expect((RelyingParty(host: host, origins: []) != nil) == isNamed)
  }
}
