import ParleyCrypto
import Testing

@Suite struct DigestTests {
  /// The examples of FIPS 180-4, and the empty text.
  @Test(arguments: [
    (
      "", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    ),
    (
      "abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    ),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ])
  func `digests match the published vectors`(text: String, sha1: String, sha256: String) throws {
    let bytes = [UInt8](text.utf8)
    #expect(Hex.text(try Digest.sha1(of: bytes)) == sha1)
    #expect(Hex.text(try Digest.sha256(of: bytes)) == sha256)
  }

  @Test func `an incremental digest equals the one-shot digest`() throws {
    let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
    for cut in 0...bytes.count {
      var digest = try Digest(.sha256)
      try digest.update(Array(bytes[..<cut]))
      try digest.update(bytes.span.extracting(cut..<bytes.count))
      #expect(try digest.finish() == Digest.sha256(of: bytes))
    }
  }

  @Test func `an unfinished digest is freed`() throws {
    for _ in 0..<1_000 {
      var digest = try Digest(.sha1)
      try digest.update([1, 2, 3])
    }
  }

  /// RFC 6455 §1.3
  @Test func `the WebSocket handshake example of the RFC matches`() throws {
    let key = [UInt8]("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
    #expect(Hex.text(try Digest.sha1(of: key)) == "b37a4f2cc0624f1690f64606cf385945b2bec4ea")
  }
}
