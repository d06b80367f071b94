import ParleyCrypto
import Testing

@Suite struct P256Tests {
  /// NIST CAVS 14.1, ECC CDH, P-256, count 0.
  @Test func `two keys agree on a secret`() throws {
    let secret = try #require(Hex.bytes("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534"))
    let other = try #require(
      Hex.bytes(
        "04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"
          + "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac"))
    let key = try #require(P256(secret: secret))
    #expect(
      Hex.text(try key.agree(with: other)) == "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b")
  }

  @Test func `a new key agrees in both directions, and signs`() throws {
    let (one, other) = (try P256(), try P256())
    #expect(try one.agree(with: other.point) == other.agree(with: one.point))
    #expect(P256(secret: one.secret) == one)
    var signature = try one.signature(of: [1, 2, 3])
    #expect(try P256.isSignature(signature, of: [1, 2, 3], by: one.point))
    #expect(try !P256.isSignature(signature, of: [1, 2], by: one.point))
    #expect(try !P256.isSignature(signature, of: [1, 2, 3], by: other.point))
    signature[40] ^= 1
    #expect(try !P256.isSignature(signature, of: [1, 2, 3], by: one.point))
  }

  @Test func `a point off the curve is no key`() throws {
    let key = try P256()
    #expect(P256.isPoint(key.point))
    var off = key.point
    off[64] ^= 1
    #expect(!P256.isPoint(off))
    #expect(throws: CryptoError.self) { try key.agree(with: off) }
    let wrong: [[UInt8]] = [
      [], [0], Array(key.point.dropLast()), [2] + Array(key.point[1...32]), [0] + Array(key.point.dropFirst()),
    ]
    for bytes in wrong {
      #expect(!P256.isPoint(bytes))
    }
  }

  @Test(arguments: ["00", "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"])
  func `zero and numbers from the order on are no secrets`(text: String) throws {
    let bytes = try #require(Hex.bytes(text))
    #expect(P256(secret: [UInt8](repeating: 0, count: 32 - bytes.count) + bytes) == nil)
    #expect(P256(secret: bytes + [1]) == nil)
  }

  /// RFC 5869 §A.1, the first 32 bytes.
  @Test func `HKDF derives a key`() throws {
    let salt = try #require(Hex.bytes("000102030405060708090a0b0c"))
    let info = try #require(Hex.bytes("f0f1f2f3f4f5f6f7f8f9"))
    let key = try HKDF.sha256([UInt8](repeating: 11, count: 22), salt: salt, info: info, byteCount: 32)
    #expect(Hex.text(key) == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf")
  }
}
