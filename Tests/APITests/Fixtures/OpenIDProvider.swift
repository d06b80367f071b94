import OIDC
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@testable import Community

/// A provider that signs users in at the site of a test: its code is the subject of the user.
struct OpenIDProvider: Sendable {
  static let issuer = Issuer(
    id: "work", name: "Work", url: "https://id.example.org", clientID: "parley", clientSecret: "secret",
    claimsImports: true)
  static let discord = Issuer(
    id: "discord", name: "Discord", url: "https://discord.com", clientID: "parley", clientSecret: "secret")

  private let key: P256
  private let clock: @Sendable () -> Int64

  init(clock: @escaping @Sendable () -> Int64) throws {
    key = try P256()
    self.clock = clock
  }

  var service: IssuerService {
    let (key, clock) = (key, clock)
    return IssuerService(
      [Self.issuer, Self.discord],
      metadata: { issuer async throws(OIDCFault) in
        let members = ["authorization_endpoint", "token_endpoint", "jwks_uri"].map {
          #""\#($0)":"\#(issuer.url)/\#($0)""#
        }
        return try ProviderMetadata(
          Array(#"{"issuer":"\#(issuer.url)",\#(members.joined(separator: ","))}"#.utf8), of: issuer)
      },
      keys: { _, _ async throws(OIDCFault) in
        let (x, y) = (Base64.encode(Array(key.point[1...32]), .url), Base64.encode(Array(key.point[33...]), .url))
        return try KeySet(Array(#"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}]}"#.utf8))
      },
      exchange: { code, request, issuer async throws(OIDCFault) in
        let now = clock() / 1_000
        // A code `subject email` tells a verified address, `subject ?email` one that is not.
        let parts = code.split(separator: " ").map(String.init)
        let code = parts[0]
        let email = parts.dropFirst().first.map { email in
          let isVerified = !email.hasPrefix("?")
          return #""email":"\#(isVerified ? email : String(email.dropFirst()))","email_verified":\#(isVerified),"#
        }
        let claims =
          #"{\#(email ?? "")"iss":"\#(issuer.url)","aud":"\#(issuer.clientID)","sub":"\#(code)","preferred_username":"\#(code)","#
          + #""iat":\#(now),"exp":\#(now + 300),"auth_time":\#(now),"nonce":"\#(request.nonce)"}"#
        let text = [#"{"alg":"ES256"}"#, claims].map { Base64.encode(Array($0.utf8), .url) }.joined(separator: ".")
        guard let signature = try? key.signature(of: Array(text.utf8)) else { throw OIDCFault(.signature) }
        return try SignedToken("\(text).\(Base64.encode(signature, .url))")
      })
  }

  /// Links the account of a subject to a user, whose session has a proof. Returns its id.
  @discardableResult
  static func link(_ subject: String, to name: String, in village: Village) async throws -> String {
    let asked = try await village.expect(201, .post, "/me/identities", as: name, ["issuer": issuer.id])
    let answer = try await finish(asked, with: subject, as: name, in: village)
    #expect(answer.status == 303 && answer.fields["location"] == "/", "\(answer.text)")
    let accounts = try await village.request(.get, "/me/identities", as: name)
    return try #require(accounts.texts("data", "id").last ?? nil)
  }

  /// Opens the page of the answer to a request, whose page and cookie `asked` has.
  static func finish(
    _ asked: Answer, with subject: String, at issuer: Issuer = issuer, as name: String?, in village: Village
  ) async throws -> Answer {
    let cookie = try #require(asked.fields["set-cookie"]?.split(separator: ";").first.map(String.init))
    let page = try #require(WebAddress(asked["url"] ?? asked.fields["location"] ?? ""))
    let query = try FormPairs(page.query ?? "")
    let state = try #require(query["state"])
    let code = subject.replacing(" ", with: "%20")
    return try await village.page(
      "/oidc/\(issuer.id)/callback?code=\(code)&state=\(state)", as: name, fields: ["Cookie": cookie])
  }
}
