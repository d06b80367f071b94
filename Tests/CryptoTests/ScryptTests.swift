import ParleyCrypto
import Testing

@Suite struct ScryptTests {
  /// RFC 7914 §12. The fourth vector needs a gigabyte, more than `Scrypt.memoryLimit`.
  @Test(arguments: [
    (
      "", "", Scrypt(cost: 16, blockSize: 1, parallelism: 1),
      "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
        + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
    ),
    (
      "password", "NaCl", Scrypt(cost: 1024, blockSize: 8, parallelism: 16),
      "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
    ),
    (
      "pleaseletmein", "SodiumChloride", Scrypt(cost: 16384, blockSize: 8, parallelism: 1),
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    ),
  ])
  func `keys match the published vectors`(password: String, salt: String, parameters: Scrypt, key: String) throws {
    let derived = try parameters.key(password: [UInt8](password.utf8), salt: [UInt8](salt.utf8), byteCount: 64)
    #expect(Hex.text(derived) == key)
  }

  @Test(arguments: [
    Scrypt(cost: 0, blockSize: 8, parallelism: 1), Scrypt(cost: 1, blockSize: 8, parallelism: 1),
    Scrypt(cost: 1000, blockSize: 8, parallelism: 1), Scrypt(cost: -16, blockSize: 8, parallelism: 1),
    Scrypt(cost: 16, blockSize: 0, parallelism: 1), Scrypt(cost: 16, blockSize: 8, parallelism: 0),
    Scrypt(cost: 1 << 20, blockSize: 8, parallelism: 1), Scrypt(cost: .max, blockSize: .max, parallelism: .max),
    Scrypt(cost: 16, blockSize: 1, parallelism: .max),
  ])
  func `invalid parameters are an error`(parameters: Scrypt) {
    #expect(throws: CryptoError.self) { try parameters.key(password: [1], salt: [2], byteCount: 32) }
  }

  @Test(arguments: [0, -1])
  func `an empty key is an error`(count: Int) {
    let parameters = Scrypt(cost: 16, blockSize: 1, parallelism: 1)
    #expect(throws: CryptoError.self) { try parameters.key(password: [1], salt: [2], byteCount: count) }
  }

  @Test func `an error has OpenSSL's message and clears the error queue`() throws {
    do {
      _ = try Scrypt(cost: 1000, blockSize: 8, parallelism: 1).key(password: [], salt: [], byteCount: 32)
      Issue.record("1000 is no power of two")
    } catch {
      #expect(error.operation == .scrypt)
      #expect(!error.reason.isEmpty)
    }
    #expect(try Digest.sha256(of: []).count == 32)
  }
}
