import Foundation
import ParleyCrypto
import Testing

@testable import ParleyProgram

/// Versions and signatures of releases.
@Suite struct ReleaseTests {
  @Test func `versions are ordered as semver says`() throws {
    let ordered = [
      "0.0.9", "0.1.0", "0.2.0-alpha", "0.2.0-alpha.1", "0.2.0-alpha.beta", "0.2.0-beta", "0.2.0-beta.2",
      "0.2.0-beta.11", "0.2.0-rc.1", "0.2.0", "0.10.0", "1.0.0",
    ]
    let versions = try ordered.map { try #require(ReleaseVersion($0)) }
    for (index, version) in versions.enumerated() {
      for (other, later) in versions.enumerated() {
        #expect((version < later) == (index < other), "\(version) \(later)")
        #expect((version == later) == (index == other), "\(version) \(later)")
      }
    }
    for text in ["", "1", "1.2", "1.2.3.4", "a.b.c", "-1.2.3", "1.2.x", "1.2.3/4", "1..3"] {
      #expect(ReleaseVersion(text) == nil, "\(text)")
    }
  }

  private static let key = """
    untrusted comment: minisign public key
    RWQ8CK3fI08L/OZBJixOrsBYly/Lcd1iipX67FKjhV2tqoB4JwvVw8Dl

    """
  /// Signature of the text `a rose` by minisign 0.11.
  private static let signature = """
    untrusted comment: signature from minisign secret key
    RUQ8CK3fI08L/G6B4Q64hDtKaAAf4uphdTIL2JzutiHwR/lUzAenl/jJbaDrrAG2n472+PmLqZC9jy1mlQrlD99jRc+D1PiBHw8=
    trusted comment: timestamp:1795987525|file:parley-0.2.0-linux-amd64.tar.gz|hashed
    2RUADhFiDQ6r60AP7nI2ebcaOWR1t2d7zSheJOKYVJa4DhZT4Rfzra7PEzlFYEsiMnULOygNpajklOP0SJhfAg==

    """
    .replacing("|", with: "\t")

  private static func digest(_ text: String) throws -> [UInt8] {
    var digest = try Digest(.blake2b)
    try digest.update(Array(text.utf8))
    return try digest.finish()
  }

  @Test func `a signature of minisign is verified with its comment`() throws {
    let key = try #require(ReleaseKey(Self.key))
    let signature = try #require(ReleaseSignature(Self.signature))
    #expect(signature.name == "parley-0.2.0-linux-amd64.tar.gz" && signature.isMade(by: key))
    #expect(signature.isRight(forDigest: try Self.digest("a rose"), by: key))
    #expect(signature.isRight(forDigest: try Self.digest("a rosE"), by: key) == false)
    let renamed = try #require(ReleaseSignature(Self.signature.replacing("0.2.0", with: "0.3.0")))
    #expect(renamed.name == "parley-0.3.0-linux-amd64.tar.gz")
    #expect(renamed.isRight(forDigest: try Self.digest("a rose"), by: key) == false)
  }

  @Test func `texts of another form are no keys and no signatures`() {
    for text in ["", "untrusted comment: x\n", "RWQ", Self.signature] { #expect(ReleaseKey(text) == nil, "\(text)") }
    let lines = Self.signature.split(separator: "\n", omittingEmptySubsequences: false)
    for count in 0..<3 { #expect(ReleaseSignature(lines.prefix(count).joined(separator: "\n")) == nil) }
    for (index, line) in lines.prefix(4).enumerated() {
      var changed = lines
      changed[index] = line.dropFirst()
      #expect(ReleaseSignature(changed.joined(separator: "\n")) == nil, "\(line)")
    }
  }

  @Test func `BLAKE2b of RFC 7693`() throws {
    let abc =
      "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
      + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
    #expect(Hex.text(try Self.digest("abc")) == abc)
  }
}
