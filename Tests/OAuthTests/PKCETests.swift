import OAuth
import Testing

@Suite struct PKCETests {
  /// RFC 7636, appendix B.
  @Test func `the challenge of the vector is that of the specification`() throws {
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    #expect(try PKCE.challenge(of: verifier) == challenge)
    #expect(PKCE.isRight(verifier, for: challenge))
    #expect(PKCE.isVerifier(verifier) && PKCE.isChallenge(challenge))
    #expect(!PKCE.isRight(String(verifier.dropLast()) + "l", for: challenge))
    // The method `plain` would accept the challenge itself.
    #expect(!PKCE.isRight(challenge, for: challenge))
  }

  @Test func `verifiers have 43 to 128 unreserved characters`() {
    #expect(PKCE.isVerifier(String(repeating: "a", count: 43)) && PKCE.isVerifier(String(repeating: "~", count: 128)))
    for text in [
      "", String(repeating: "a", count: 42), String(repeating: "a", count: 129),
      String(repeating: "a", count: 42) + "+",
      String(repeating: "a", count: 42) + "é", String(repeating: " ", count: 43),
    ] {
      #expect(!PKCE.isVerifier(text), "\(text)")
    }
  }

  @Test func `challenges are 32 bytes of Base64 for URLs without padding`() {
    for text in [
      "", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c",
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN",
    ] {
      #expect(!PKCE.isChallenge(text), "\(text)")
    }
  }
}
