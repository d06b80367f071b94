import ParleyCrypto
import Testing

@Suite struct SignatureTests {
  /// RFC 8032 §7.1, tests 1 to 3.
  @Test(arguments: [
    (
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ),
    (
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
    (
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    ),
  ])
  func `signatures of Ed25519 are checked`(key: String, text: String, signature: String) throws {
    let (key, bytes) = (try #require(Hex.bytes(key)), try #require(Hex.bytes(text)))
    var signature = try #require(Hex.bytes(signature))
    #expect(Ed25519.isPoint(key))
    #expect(Ed25519.isSignature(signature, of: bytes, by: key))
    #expect(!Ed25519.isSignature(signature, of: bytes + [0], by: key))
    #expect(!Ed25519.isSignature(Array(signature.dropLast()), of: bytes, by: key))
    signature[3] ^= 1
    #expect(!Ed25519.isSignature(signature, of: bytes, by: key))
  }

  @Test func `a secret of Ed25519 gives the same key again`() throws {
    let key = try Ed25519()
    let again = try Ed25519(secret: key.secret)
    #expect(again == key)
    #expect(Ed25519.isSignature(try again.signature(of: [1, 2]), of: [1, 2], by: key.point))
    #expect(throws: CryptoError.self) { try Ed25519(secret: Array(key.secret.dropLast())) }
  }

  /// RFC 8032 §7.1, test 1.
  @Test func `the public half of Ed25519 follows from the secret`() throws {
    let secret = try #require(Hex.bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    #expect(
      Hex.text(try Ed25519(secret: secret).point) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
  }

  @Test func `new keys of Ed25519 are points, and half of the other numbers are none`() throws {
    for _ in 0..<16 { #expect(Ed25519.isPoint(try Ed25519().point)) }
    let points = (2...101).filter { Ed25519.isPoint([UInt8($0)] + [UInt8](repeating: 0, count: 31)) }
    #expect(30...70 ~= points.count)
    // The neutral element is a point; 2 is no y of one; p, p + 1 and 31 bytes are not reduced or too short.
    #expect(Ed25519.isPoint([1] + [UInt8](repeating: 0, count: 31)))
    let rest = [UInt8](repeating: 0xff, count: 30) + [0x7f]
    for bytes in [
      [2] + [UInt8](repeating: 0, count: 31), [0xed] + rest, [0xee] + rest, [], Array([1] + rest.dropLast()),
    ] {
      #expect(!Ed25519.isPoint(bytes), "\(Hex.text(bytes))")
    }
  }

  @Test func `a signature in DER has one encoding`() throws {
    let key = try P256()
    let signature = try key.signatureDER(of: [1, 2, 3])
    #expect(try P256.isSignature(der: signature, of: [1, 2, 3], by: key.point))
    #expect(try !P256.isSignature(der: signature, of: [1, 2], by: key.point))
    #expect(try !P256.isSignature(der: signature, of: [1, 2, 3], by: try P256().point))
    // A byte after it, a length in the long form, and a leading zero more.
    var long = signature
    long.insert(0x81, at: 1)
    var padded = signature
    padded[1] += 1
    padded[3] += 1
    padded.insert(0, at: 4)
    for bytes in [[], signature + [0], long, padded, Array(signature.dropLast()), [UInt8](repeating: 0x30, count: 100)]
    {
      #expect(try !P256.isSignature(der: bytes, of: [1, 2, 3], by: key.point), "\(Hex.text(bytes))")
    }
  }

  @Test func `signatures of RSA are checked, and short keys are refused`() throws {
    let key = try RSA()
    let signature = try key.signature(of: [1, 2, 3])
    let check = { (signature: [UInt8], bytes: [UInt8]) throws in
      try RSA.isSignature(signature, of: bytes, modulus: key.modulus, exponent: key.exponent)
    }
    #expect(key.modulus.count == 256 && RSA.isKey(modulus: key.modulus, exponent: key.exponent))
    #expect(try check(signature, [1, 2, 3]))
    #expect(try !check(signature, [1, 2]) && !check(signature + [0], [1, 2, 3]) && !check([], [1, 2, 3]))
    #expect(try !check(Array(repeating: 0xff, count: 256), [1, 2, 3]))
    let short = try RSA(bits: 1_024)
    let weak = try short.signature(of: [1])
    #expect(try !RSA.isSignature(weak, of: [1], modulus: short.modulus, exponent: short.exponent))
  }
}
