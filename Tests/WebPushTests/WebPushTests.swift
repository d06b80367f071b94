import ParleyCrypto
import ParleyJSON
import ParleyWire
import Testing

@testable import WebPush

private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decode(text, .url), "\(text)") }

@Suite struct ContentCodingTests {
  /// RFC 8188 §3.1.
  @Test func `one record`() throws {
    let message = try ContentCoding.encrypt(
      Array("I am the walrus".utf8), secret: bytes("yqdlZ-tYemfogSmv7Ws5PQ"), salt: bytes("I1BsxtFttlv3u_Oo94xnmw"),
      keyID: [], recordSize: 4_096, padding: 0)
    #expect(
      Base64.encode(message, .url) == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
  }

  /// RFC 8188 §3.2: records of 25 bytes, with padding in the first one.
  @Test func `several records`() throws {
    let salt = try bytes("uNCkWiNYzKTnBN9ji3-qWA")
    let keys = try RecordKeys(secret: bytes("BO3ZVPxUlnLORbVGMpbT1Q"), salt: salt)
    let message =
      ContentCoding.header(salt: salt, keyID: Array("a1".utf8), recordSize: 25)
      + (try keys.seal(Array("I am th".utf8) + [1, 0], number: 0))
      + (try keys.seal(Array("e walrus".utf8) + [2], number: 1))
    let expected = "uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA"
    #expect(Base64.encode(message, .url) == expected)
  }
}

@Suite struct PushKeysTests {
  private static let device = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
  private static let point =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"

  /// RFC 8291 §5.
  @Test func `a message for a device`() throws {
    let key = try #require(P256(secret: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))
    let keys = PushKeys(point: try bytes(Self.point), auth: try bytes(Self.auth))
    let message = try keys.encrypt(
      Array("When I grow up, I want to be a watermelon".utf8), size: 0, key: key,
      salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      Base64.encode(message, .url)
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
        + "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }

  @Test(arguments: [0, 1_023, 1_024, 3_000, 3_072])
  func `only the size with padding shows`(count: Int) throws {
    let keys = PushKeys(point: try bytes(Self.point), auth: try bytes(Self.auth))
    let size = count <= 1_024 ? 1_024 : 3_072
    let message = try keys.encrypt([UInt8](repeating: 65, count: count), size: size)
    #expect(message.count == 86 + size + 17)
    #expect(message.count <= PushKeys.recordSize)
    // The device decrypts it.
    let secret = try #require(P256(secret: bytes(Self.device)))
    let (salt, sender) = (Array(message[..<16]), Array(message[21..<86]))
    let info = Array("WebPush: info\0".utf8) + secret.point + sender
    let shared = try HKDF.sha256(secret.agree(with: sender), salt: bytes(Self.auth), info: info, byteCount: 32)
    var plain = try #require(try RecordKeys(secret: shared, salt: salt).open(Array(message[86...]), number: 0))
    while plain.last == 0 { plain.removeLast() }
    #expect(plain == [UInt8](repeating: 65, count: count) + [2])
  }

  @Test func `two messages differ in key and salt`() throws {
    let keys = PushKeys(point: try bytes(Self.point), auth: try bytes(Self.auth))
    let (one, other) = (try keys.encrypt([1], size: 10), try keys.encrypt([1], size: 10))
    #expect(one[..<16] != other[..<16])
    #expect(one[21..<86] != other[21..<86])
  }
}

@Suite struct VAPIDTests {
  /// RFC 8292 §2.4.
  @Test func `the signature of the example is right`() throws {
    let token =
      "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1Yi"
      + "I6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0"
    let signature = "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA"
    let key = "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
    #expect(try P256.isSignature(bytes(signature), of: Array(token.utf8), by: bytes(key)))
  }

  @Test func `a token has the members of the example, and its signature`() throws {
    let key = try P256()
    let vapid = VAPID(key, subject: "mailto:push@example.com")
    let token = try vapid.token(for: "https://push.example.net", expiresAt: 1_453_523_768)
    let parts = token.split(separator: ".").map(String.init)
    #expect(
      parts[0...1].joined(separator: ".")
        == "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1"
        + "YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0")
    #expect(try P256.isSignature(bytes(parts[2]), of: Array(parts[0...1].joined(separator: ".").utf8), by: key.point))
  }

  @Test func `the field names token and key`() throws {
    let vapid = VAPID(try P256(), subject: "https://example.org")
    let field = try vapid.authorization(for: "https://push.example.net", now: 0)
    #expect(field.hasPrefix("vapid t=ey"))
    #expect(field.hasSuffix(", k=\(vapid.publicKey)"))
    #expect(vapid.publicKey.count == 87)
  }
}

@Suite struct PushRequestTests {
  private static func payload(_ body: String) -> PushPayload {
    PushPayload(
      title: "Ada", body: body, navigate: "https://example.org/m/12", tag: "c7", badge: 3,
      data: .init(
        notification: "40", kind: "mention", conversation: "7", message: "12", revision: 1, sender: "Ada"))
  }

  @Test func `the content is a declarative message`() throws {
    let (json, size) = Self.payload("hello").content(isShort: false)
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"web_push":8030,"notification":{"title":"Ada","body":"hello","dir":"auto","navigate":"https://example.org/m/12","#
        + #""tag":"c7","app_badge":3,"data":{"notification_id":"40","kind":"mention","conversation_id":"7","message_id":"12","#
        + #""revision":1,"sender":"Ada"}}}"#)
    #expect(size == 1_024)
  }

  @Test(arguments: ["x", "é", "👩‍👩‍👧", "\u{1}", "\""])
  func `a long text is cut to the size`(character: String) throws {
    let text = String(repeating: character, count: 5_000)
    for (isShort, limit) in [(true, 1_024), (false, 3_072)] {
      let (json, size) = Self.payload(text).content(isShort: isShort)
      #expect(size == limit)
      #expect(json.count <= limit && json.count > limit / 2)
      #expect(String(decoding: json, as: UTF8.self).contains("…\""))
    }
  }

  @Test func `a request has the fields of the protocol`() throws {
    let device = try P256()
    let request = try PushRequest(
      Self.payload("hello"), to: "https://push.example.net/send/abc?x=1",
      PushKeys(point: device.point, auth: [UInt8](repeating: 1, count: 16)),
      signedBy: VAPID(try P256(), subject: "https://example.org"), topic: "t", urgency: .high, timeToLive: 60, now: 0)
    let fields = Dictionary(uniqueKeysWithValues: request.fields)
    #expect(fields["TTL"] == "60")
    #expect(fields["Urgency"] == "high")
    #expect(fields["Topic"] == "t")
    #expect(fields["Content-Encoding"] == "aes128gcm")
    let claims = try #require(fields["Authorization"]?.split(separator: ".")[1])
    #expect(
      String(decoding: try bytes(String(claims)), as: UTF8.self)
        == #"{"aud":"https://push.example.net","exp":43200,"sub":"https://example.org"}"#)
    #expect(request.body.count == 86 + 1_024 + 17)
  }

  @Test func `a topic is stable, opaque and short enough`() throws {
    let topic = try PushRequest.topic("c12", key: [1])
    #expect(topic.count == 32)
    #expect(try topic == PushRequest.topic("c12", key: [1]))
    #expect(try topic != PushRequest.topic("c13", key: [1]))
    #expect(try topic != PushRequest.topic("c12", key: [2]))
  }

  @Test(arguments: [
    (201, PushOutcome.accepted), (404, .gone), (410, .gone), (413, .tooLarge), (429, .busy(retryAfter: 9)),
    (503, .busy(retryAfter: 9)), (400, .refused(status: 400, words: "bad request")),
  ])
  func `statuses mean what the protocol says`(status: Int, outcome: PushOutcome) {
    #expect(PushOutcome(status: status, retryAfter: 9, body: Array("bad\nrequest".utf8)) == outcome)
  }
}
