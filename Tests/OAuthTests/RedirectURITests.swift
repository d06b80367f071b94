import OAuth
import Testing

@Suite struct RedirectURITests {
  @Test(arguments: [
    "https://app.example.org/callback", "https://app.example.org/", "https://app.example.org:8443/callback?from=parley",
    "https://192.0.2.7/callback", "https://xn--bcher-kva.example/callback", "http://127.0.0.1/callback",
    "http://127.0.0.1:8000/callback", "http://[::1]/callback", "http://[::1]:49152/", "http://localhost:3000/callback",
    "com.example.app:/callback", "org.example.app-1:/a/b", "https://app.example.org/a%20b",
  ])
  func `valid URIs can be registered`(text: String) throws {
    let uri = try #require(RedirectURI(text))
    #expect(uri.description == text && uri.matches(text))
  }

  /// Each is refused at registration. None matches the registered URI in a request.
  static let hostile = [
    // Schemes.
    "javascript:alert(1)", "javascript://app.example.org/callback", "data:text/html,x", "vbscript:x",
    "file:///etc/passwd",
    "http://app.example.org/callback", "HTTPS://app.example.org/callback", "example:/callback",
    "com..example:/callback",
    "com.example.app://evil.example/callback", "ws://app.example.org/callback",
    // Hosts.
    "https://evil.example", "https://app.example.org.", "https://app.example.org./callback",
    "https://APP.example.org/callback", "https://app.example.org@evil.example/callback",
    "https://user:password@app.example.org/callback", "https://app.example.org\\@evil.example/callback",
    "https://bücher.example/callback", "https://app。example/callback", "https://app%2eexample.org/callback",
    "https:///callback", "https:app.example.org/callback", "//app.example.org/callback",
    "https://-app.example/callback",
    "https://app..example.org/callback", "https://0x7f.1/callback", "https://127.1/callback",
    "https://[::ffff:1.2.3.4]/",
    "http://127.0.0.2/callback", "http://[::1%25eth0]/callback",
    // Ports.
    "https://app.example.org:443/callback", "https://app.example.org:/callback", "https://app.example.org:0/callback",
    "https://app.example.org:65536/callback", "https://app.example.org:08443/callback",
    "https://app.example.org:80@evil.example/callback",
    // Paths and fragments.
    "https://app.example.org/callback#", "https://app.example.org/callback#fragment",
    "https://app.example.org/a/../callback", "https://app.example.org/./callback",
    "https://app.example.org/%2e%2e/callback", "https://app.example.org/a%2f..%2fcallback",
    "https://app.example.org//evil.example/", "https://app.example.org/\\evil.example",
    "https://app.example.org/%5cevil",
    "https://app.example.org/%zz", "https://app.example.org/a b", "https://app.example.org/a\r\nSet-Cookie: a=b",
    "https://app.example.org/%00", "https://app.example.org?callback", "", " https://app.example.org/callback", "*",
    "https://*.example.org/callback",
  ]

  @Test(arguments: hostile)
  func `a hostile URI is refused`(text: String) throws {
    #expect(RedirectURI(text) == nil)
    for registered in [
      "https://app.example.org/callback", "http://127.0.0.1/callback", "com.example.app:/callback",
    ] {
      #expect(try !#require(RedirectURI(registered)).matches(text))
    }
  }

  @Test func `a URI of a request is compared byte by byte`() throws {
    let uri = try #require(RedirectURI("https://app.example.org/callback?a=b"))
    for text in [
      "https://app.example.org/callback", "https://app.example.org/callback?a=b&c=d",
      "https://app.example.org/callback/",
      "https://app.example.org/Callback?a=b", "https://app.example.org:8443/callback?a=b", "https://app.example.org/",
      "https://sub.app.example.org/callback?a=b",
    ] {
      #expect(!uri.matches(text), "\(text)")
    }
  }

  /// RFC 8252 §7.3.
  @Test func `a loopback address has any port`() throws {
    let uri = try #require(RedirectURI("http://127.0.0.1/callback"))
    #expect(uri.matches("http://127.0.0.1:51004/callback") && uri.matches("http://127.0.0.1/callback"))
    for text in [
      "http://127.0.0.1:51004/other", "http://[::1]:51004/callback", "http://localhost:51004/callback",
      "https://127.0.0.1:51004/callback", "http://127.0.0.1:51004/callback?a=b", "http://127.0.0.1:99999/callback",
      "http://127.0.0.1:51004@evil.example/callback",
    ] {
      #expect(!uri.matches(text), "\(text)")
    }
    let named = try #require(RedirectURI("http://localhost:3000/callback"))
    #expect(named.matches("http://localhost:3000/callback") && !named.matches("http://localhost:3001/callback"))
  }

  @Test func `parameters are added to the query`() throws {
    let plain = try #require(RedirectURI("https://app.example.org/callback"))
    #expect(plain.adding(["code": "a b", "state": nil]) == "https://app.example.org/callback?code=a%20b")
    let query = try #require(RedirectURI("https://app.example.org/callback?a=b"))
    #expect(query.adding(["state": "&x=1#"]) == "https://app.example.org/callback?a=b&state=%26x%3D1%23")
    #expect(try #require(RedirectURI("com.example.app:/cb")).adding(["code": "1"]) == "com.example.app:/cb?code=1")
  }

  @Test func `the policy of the form permits the host of the URI alone`() throws {
    for (text, action, host) in [
      ("https://app.example.org/callback", "https://app.example.org", "app.example.org"),
      ("https://app.example.org:8443/callback", "https://app.example.org:8443", "app.example.org"),
      ("http://127.0.0.1:51004/callback", "http://127.0.0.1:51004", "127.0.0.1"),
      ("http://[::1]:51004/callback", "http:", "[::1]"),
      ("com.example.app:/callback", "com.example.app:", "com.example.app"),
    ] {
      let uri = try #require(RedirectURI(text))
      #expect(uri.formAction == action && uri.shownHost == host)
    }
  }
}
