import ParleyCrypto
import ParleyJSON
import ParleyWire
import Testing

@testable import ACME

@Suite struct ACMEKeyTests {
  /// The key of RFC 7517, appendix A.2.
  private static func vector() throws -> P256 {
    try #require(
      Base64.decode("870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE", .url).flatMap(P256.init(secret:)))
  }

  @Test func `the thumbprint is that of RFC 7638`() throws {
    let key = try ACMEKey(Self.vector())
    #expect(key.thumbprint == "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s")
    #expect(key.keyAuthorization("token") == "token.cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s")
  }

  @Test(arguments: [nil, "https://ca.example/account/7"]) func `a request has one signature and names its key`(
    account: String?
  ) throws {
    let pair = try Self.vector()
    let signed = try ACMEKey(pair).sign(
      Array("{}".utf8), to: "https://ca.example/order", nonce: "abc", account: account)
    var body = try JSONValue(parsing: signed).object()
    let (protected, payload) = (try body.string("protected"), try body.string("payload"))
    let signature = try #require(Base64.decode(try body.string("signature"), .url))
    #expect(try P256.isSignature(signature, of: Array("\(protected).\(payload)".utf8), by: pair.point))
    #expect(Base64.decode(payload, .url) == Array("{}".utf8))
    var header = try JSONValue(parsing: try #require(Base64.decode(protected, .url))).object()
    #expect(try header.string("alg") == "ES256" && header.string("nonce") == "abc")
    #expect(try header.string("url") == "https://ca.example/order")
    #expect(try header.optional("kid") == account)
    #expect((header.member("jwk") == nil) == (account != nil))
  }

  /// RFC 8555 §6.3.
  @Test func `a POST-as-GET has an empty payload`() throws {
    let signed = try ACMEKey(Self.vector()).sign(nil, to: "https://ca.example/order", nonce: "abc", account: nil)
    var body = try JSONValue(parsing: signed).object()
    #expect(try body.string("payload").isEmpty)
  }

  @Test func `a certificate request is signed by its key, for names of any length`() throws {
    for names in [["a.example"], (0..<100).map { "name-\($0).parley.example" }] {
      let request = try CertificateRequest(names)
      #expect(
        request.key.hasPrefix("-----BEGIN PRIVATE KEY-----\n") && request.key.hasSuffix("-----END PRIVATE KEY-----\n"))
      #expect(request.key.split(separator: "\n").allSatisfy { $0.utf8.count <= 64 })
      #expect(names.allSatisfy { name in request.bytes.contains(Array(name.utf8)) })
    }
  }

  @Test(
    arguments: [(0, [0]), (127, [127]), (128, [0x81, 128]), (255, [0x81, 255]), (256, [0x82, 1, 0])] as [(Int, [UInt8])]
  )
  func `a length in DER has the fewest octets`(count: Int, length: [UInt8]) {
    let element = DER.octets(Array(repeating: 7, count: count))
    #expect(Array(element.prefix(1 + length.count)) == [4] + length && element.count == 1 + length.count + count)
  }
}
