import OIDC
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@Suite struct TokenTests {
  @Test func `an ID token is read`() throws {
    let token = try TestIssuer().idToken(
      TestIssuer.claims(
        #"{"sid":"x","groups":["a","b"],"preferred_username":"lin","name":"Lin","email":"l@example.org","email_verified":"true","amr":["mfa"]}"#
      ))
    #expect(token.subject == "s-1" && token.sessionID == "x" && token.groups == ["a", "b"])
    #expect(token.label == "lin" && token.displayName == "Lin" && token.email == "l@example.org")
    #expect(token.isEmailVerified == true && token.hasSecondFactor)
  }

  @Test(arguments: [#"{"alg":"ES256","kid":"ec"}"#, #"{"alg":"EdDSA","kid":"ed"}"#, #"{"alg":"RS256","kid":"rsa"}"#])
  func `each algorithm signs`(header: String) throws {
    let issuer = try TestIssuer()
    let token = try IDToken(
      issuer.token(TestIssuer.claims(), header: header), signedBy: issuer.keys(), of: issuer.issuer,
      nonce: TestIssuer.nonce, at: TestIssuer.now)
    #expect(token.subject == "s-1")
  }

  @Test(arguments: [
    (#"{"iss":"https://id.example.org/"}"#, OIDCFault.Reason.issuer), (#"{"aud":"x"}"#, .audience),
    (#"{"aud":[]}"#, .audience), (#"{"aud":["parley","x"]}"#, .authorizedParty), (#"{"azp":"x"}"#, .authorizedParty),
    (#"{"exp":1799999940}"#, .expired), (#"{"exp":null}"#, .expired), (#"{"iat":1800000061}"#, .issuedAt),
    (#"{"nbf":1800000061}"#, .issuedAt), (#"{"nonce":"n"}"#, .nonce), (#"{"nonce":null}"#, .nonce),
    (#"{"sub":null}"#, .subject), (#"{"sub":""}"#, .subject), (#"{"events":{}}"#, .type),
    (#"{"exp":1e400}"#, .malformed), (#"{"exp":-1}"#, .malformed), (#"{"exp":"1"}"#, .malformed),
    (#"{"aud":7}"#, .malformed), (#"{"amr":"mfa"}"#, .malformed), (#"{"email_verified":7}"#, .malformed),
  ])
  func `a wrong claim refuses the token`(changes: String, reason: OIDCFault.Reason) throws {
    let issuer = try TestIssuer()
    do {
      _ = try issuer.idToken(TestIssuer.claims(changes))
      Issue.record("The token was accepted.")
    } catch let fault as OIDCFault {
      #expect(fault.reason == reason)
    }
  }

  @Test(arguments: [
    #"{"exp":1799999941}"#, #"{"iat":1800000060}"#, #"{"nbf":1800000060.5}"#, #"{"aud":["parley","x"],"azp":"parley"}"#,
    #"{"exp":1800000300.25}"#, #"{"groups":"one"}"#,
  ])
  func `skew and other forms are accepted`(changes: String) throws {
    _ = try TestIssuer().idToken(TestIssuer.claims(changes))
  }

  @Test(arguments: [
    (#"{"alg":"none"}"#, OIDCFault.Reason.algorithm), (#"{"alg":"HS256","kid":"ec"}"#, .algorithm),
    (#"{"alg":"ES384","kid":"ec"}"#, .algorithm), (#"{"alg":"es256","kid":"ec"}"#, .algorithm),
    (#"{"kid":"ec"}"#, .malformed), (#"{"alg":"ES256","kid":"ec","crit":[]}"#, .malformed), (#"[]"#, .malformed),
    (#"{"alg":"ES256","kid":"rsa"}"#, .unknownKey), (#"{"alg":"ES256","kid":"gone"}"#, .unknownKey),
    (#"{"alg":"ES256","kid":"ec","typ":"logout+jwt"}"#, .type),
    (#"{"alg":"ES256","kid":"ec","typ":"application/at+JWT"}"#, .type),
  ])
  func `a wrong header refuses the token`(header: String, reason: OIDCFault.Reason) throws {
    let issuer = try TestIssuer()
    do {
      _ = try IDToken(
        issuer.token(TestIssuer.claims(), header: header), signedBy: issuer.keys(), of: issuer.issuer,
        nonce: TestIssuer.nonce, at: TestIssuer.now)
      Issue.record("The token was accepted.")
    } catch let fault as OIDCFault {
      #expect(fault.reason == reason)
    }
  }

  @Test func `a type in other words is that of an ID token`() throws {
    let issuer = try TestIssuer()
    for type in ["JWT", "jwt", "application/JWT"] {
      _ = try IDToken(
        issuer.token(TestIssuer.claims(), header: #"{"alg":"ES256","kid":"ec","typ":"\#(type)"}"#),
        signedBy: issuer.keys(), of: issuer.issuer, nonce: TestIssuer.nonce, at: TestIssuer.now)
    }
  }

  @Test func `a proof needs a sign-in after its start`() throws {
    let issuer = try TestIssuer()
    for (time, reason) in [("1799999939", OIDCFault.Reason.authTime), ("null", .authTime)] {
      #expect(throws: OIDCFault.self, "\(reason)") {
        try issuer.idToken(TestIssuer.claims(#"{"auth_time":\#(time)}"#), since: TestIssuer.now)
      }
    }
    _ = try issuer.idToken(TestIssuer.claims(#"{"auth_time":1799999940}"#), since: TestIssuer.now)
  }

  @Test func `a required context is that of the token`() throws {
    let issuer = try TestIssuer(acr: "high")
    #expect(throws: OIDCFault(.acr, "no acr")) { try issuer.idToken(TestIssuer.claims()) }
    #expect(throws: OIDCFault(.acr, "low")) { try issuer.idToken(TestIssuer.claims(#"{"acr":"low"}"#)) }
    #expect(try issuer.idToken(TestIssuer.claims(#"{"acr":"high"}"#)).hasSecondFactor)
  }

  @Test(arguments: [
    (#"{"events":null}"#, OIDCFault.Reason.malformed), (#"{"events":{}}"#, .events),
    (#"{"events":{"http://schemas.openid.net/event/backchannel-logout":1}}"#, .events), (#"{"nonce":"x"}"#, .nonce),
    (#"{"sub":null}"#, .subject), (#"{"jti":null}"#, .malformed), (#"{"jti":""}"#, .malformed),
    (#"{"iat":1799999340}"#, .expired), (#"{"exp":1799999940}"#, .expired), (#"{"iat":1800000061}"#, .issuedAt),
    (#"{"iss":"x"}"#, .issuer), (#"{"aud":"x"}"#, .audience),
  ])
  func `a wrong logout token ends nothing`(changes: String, reason: OIDCFault.Reason) throws {
    let issuer = try TestIssuer()
    do {
      _ = try LogoutToken(
        issuer.token(TestIssuer.logout(changes)), signedBy: issuer.keys(), of: issuer.issuer, at: TestIssuer.now)
      Issue.record("The token was accepted.")
    } catch let fault as OIDCFault {
      #expect(fault.reason == reason)
    }
  }

  @Test func `a logout token names the user, the session or both`() throws {
    let issuer = try TestIssuer()
    for (changes, subject, session) in [
      ("{}", "s-1", nil), (#"{"sid":"x"}"#, "s-1", "x"), (#"{"sub":null,"sid":"x"}"#, nil, "x"),
    ] as [(String, String?, String?)] {
      let token = try LogoutToken(
        issuer.token(TestIssuer.logout(changes)), signedBy: issuer.keys(), of: issuer.issuer, at: TestIssuer.now)
      #expect(token.subject == subject && token.sessionID == session)
      #expect(token.expiresAt == TestIssuer.now + 660)
    }
  }

  @Test(arguments: ["", ".", "..", "...", "a.b.c", "e30.e30.", "e30=.e30.e30", "e30.e30.e30.e30", "é.é.é"])
  func `other texts are no tokens`(text: String) {
    #expect(throws: OIDCFault.self) { try SignedToken(text) }
  }

  @Test func `bytes of a changed token fail without a crash`() throws {
    let issuer = try TestIssuer()
    let text = [#"{"alg":"ES256","kid":"ec"}"#, TestIssuer.claims()].map { Base64.encode(Array($0.utf8), .url) }
      .joined(separator: ".")
    let whole = Array("\(text).\(Base64.encode(try issuer.p256.signature(of: Array(text.utf8)), .url))".utf8)
    for index in whole.indices {
      var bytes = whole
      bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(throws: OIDCFault.self) {
        try IDToken(
          SignedToken(String(decoding: bytes, as: UTF8.self)), signedBy: issuer.keys(), of: issuer.issuer,
          nonce: TestIssuer.nonce, at: TestIssuer.now)
      }
    }
  }
}
