import ParleyNetworking
import ParleyWire
import Testing

@testable import ParleyHTTPClient

/// Links of users to internal addresses, or with ambiguous hosts.
@Suite struct UntrustedPolicyTests {
  static let hostile: [String] = [
    // This machine, in every spelling.
    "http://127.0.0.1/", "http://127.0.0.1:80/", "http://127.1/", "http://127.0.1/", "http://127.255.255.254/",
    "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0x7f.1/", "http://0X7F.0x0.0x0.0x1/",
    "http://0177.0.0.1/", "http://0177.0.0.01/", "http://017700000001/", "http://00000000177.0.0.1/",
    "http://127.0.0.1./", "http://127.0.0.01/", "http://0x7f.0.0x0.01/", "http://0/", "http://0.0.0.0/", "http://0x/",
    "http://0.1.2.3/", "http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://a.localhost/",
    "http://localhost.localdomain/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[0000::0001]/",
    "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:ffff:7f00:0001]/",
    "http://[::127.0.0.1]/", "http://[::7f00:1]/", "http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2002:7f00:0001::1]/",
    "http://[2001:0:7f00:1::]/", "http://[2001:470::5efe:127.0.0.1]/", "http://[2001:470::200:5efe:10.0.0.1]/",
    // The local network.
    "http://10.0.0.1/", "http://10.255.255.255/", "http://0xa.1/", "http://012.1.2.3/", "http://167772161/",
    "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://192.168.257/", "http://3232235777/",
    "http://100.64.0.1/", "http://100.127.255.255/", "http://169.254.1.1/", "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/", "http://[febf::1]/", "http://[fec0::1]/", "http://[fc00::1]/", "http://[fd12:3456::1]/",
    "http://[64:ff9b::10.0.0.1]/", "http://[2002:c0a8:101::1]/",
    // Cloud metadata services.
    "http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/", "http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]/",
    "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/", "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/", "http://metadata.google.internal/", "http://metadata/", "http://instance-data/",
    "http://kubernetes.default.svc.cluster.local/",
    // Unassigned, multicast and example addresses.
    "http://192.0.2.1/", "http://198.51.100.7/", "http://203.0.113.9/", "http://198.18.0.1/", "http://192.88.99.1/",
    "http://224.0.0.1/", "http://239.255.255.250/", "http://240.0.0.1/", "http://255.255.255.255/",
    "http://[ff02::1]/", "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[5f00::1]/", "http://[4000::1]/",
    "http://[100::1]/", "http://[2620:4f:8000::1]/", "http://[2001:10::1]/", "http://[2001:2::1]/",
    // Internal names.
    "http://router/", "http://router.lan/", "http://nas.local/", "http://NAS.LOCAL./", "http://wiki.corp/",
    "http://wiki.intranet/", "http://printer.home.arpa/", "http://1.0.0.127.in-addr.arpa/", "http://x.internal/",
    "http://duckduckgo.onion/",
    // Hosts that parsers read differently.
    "http://user@example.org/", "http://example.org@127.0.0.1/", "http://127.0.0.1@example.org/",
    "http://example.org:80@127.0.0.1/", "http://example.org\\@127.0.0.1/", "http://127.0.0.1\\example.org/",
    "http://example.org%2f@127.0.0.1/", "http://%31%32%37.0.0.1/", "http://127%2e0%2e0%2e1/",
    "http://example.org%00.lan/",
    "http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://１２７.0.0.1/", "http://ⓛocalhost/", "http://bücher.example/",
    "http://exa\u{ad}mple.org/", "http://example..org/", "http://.example.org/", "http://example.org../", "http:///",
    "http://./", "http://-example.org/", "http://example-.org/", "http://1.2.3.4.5/", "http://1.2.3.256/",
    "http://256.1/",
    "http://4294967296/", "http://0x100000000/", "http://08.8.8.8/", "http://1.1.1.1.0x1/", "http://[::1/",
    "http://[::1]x/",
    "http://[127.0.0.1]/", "http://[::ffff:127.1]/", "http://[v1.fe80]/", "http://example.org:0/",
    "http://example.org:x/",
    "http://example.org:65616/", "http://example.org:-1/", "http:example.org", "http:/example.org", "//example.org/",
    "example.org", "", "http://", "http://example.org/\r\nHost: 127.0.0.1", "http://example.org/\u{0}",
    "http://exam\tple.org/", " http://127.0.0.1/", "http://~example.org/",
    // Other schemes and ports.
    "file:///etc/passwd", "ftp://example.org/", "gopher://127.0.0.1:6379/_INFO", "dict://example.org/",
    "ws://example.org/",
    "wss://example.org/", "data:text/html,x", "javascript:alert(1)", "jar:http://example.org/!",
    "unix:/run/docker.sock",
    "http+unix://%2frun%2fdocker.sock/", "http://example.org:22/", "http://example.org:25/", "http://example.org:6379/",
    "https://example.org:9200/", "http://8.8.8.8:53/", "http://[2606:4700::1111]:11211/",
  ]

  @Test func `the list of hostile links is long and has no duplicates`() {
    #expect(Self.hostile.count >= 60 && Set(Self.hostile).count == Self.hostile.count)
  }

  @Test(arguments: hostile)
  func `a hostile link is refused`(link: String) async throws {
    #expect(throws: UntrustedFault.refused) { try UntrustedPolicy.strict.target(link) }
    // The client refuses it, too, without a lookup or connection.
    let client = try UntrustedClient { _, _, _ throws(UntrustedFault) in
      Issue.record("\(link) was looked up")
      throw .unknownHost
    }
    await #expect(throws: UntrustedFault.refused) { try await client.fetch(link, .anything) }
    client.close()
  }

  @Test(arguments: [
    ("http://example.org", "http://example.org/"), ("https://Example.ORG./a?b#c", "https://example.org./a?b"),
    ("http://8.8.8.8/", "http://8.8.8.8/"), ("http://0x08.8.8.8/", "http://0x08.8.8.8/"),
    ("https://[2606:4700::1111]:8443/", "https://[2606:4700::1111]:8443/"),
    ("http://[64:ff9b::8.8.8.8]/", "http://[64:ff9b::8.8.8.8]/"), ("http://172.32.0.1/", "http://172.32.0.1/"),
    ("http://11.0.0.1/", "http://11.0.0.1/"), ("http://100.128.0.1/", "http://100.128.0.1/"),
    ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("http://a_b.example.org:8080/ä ö?ü=\"|", "http://a_b.example.org:8080/%C3%A4%20%C3%B6?%C3%BC=%22%7C"),
    ("http://localhost.example.org/", "http://localhost.example.org/"),
    ("http://1.2.3.4.example.org/", "http://1.2.3.4.example.org/"),
  ])
  func `a public link is allowed`(link: String, means: String) throws {
    #expect(try UntrustedPolicy.strict.target(link).address.description == means)
  }

  @Test func `a link over the length limit is refused`() throws {
    let link = "http://example.org/" + String(repeating: "a", count: 2_048 - 19)
    #expect(throws: Never.self) { try UntrustedPolicy.strict.target(link) }
    #expect(throws: UntrustedFault.refused) { try UntrustedPolicy.strict.target(link + "a") }
  }

  @Test func `an exception is one address with one port`() throws {
    let policy = UntrustedPolicy.alsoAllowing([(try #require(IPAddress("127.0.0.1")), 4_711)])
    #expect(throws: Never.self) { try policy.target("http://127.1:4711/") }
    for link in ["http://127.0.0.1/", "http://127.0.0.1:4712/", "http://127.0.0.2:4711/", "http://[::1]:4711/"] {
      #expect(throws: UntrustedFault.refused, "\(link)") { try policy.target(link) }
    }
  }

  @Test(arguments: [
    ("", "http://a.example/b/c/d?q"), ("g", "http://a.example/b/c/g"), ("./g", "http://a.example/b/c/g"),
    ("g/", "http://a.example/b/c/g/"), ("/g", "http://a.example/g"), ("//g.example", "http://g.example"),
    ("?y", "http://a.example/b/c/d?y"), ("g?y#s", "http://a.example/b/c/g?y"), ("#s", "http://a.example/b/c/d?q"),
    (".", "http://a.example/b/c/"), ("..", "http://a.example/b/"), ("../g", "http://a.example/b/g"),
    ("../../../g", "http://a.example/g"), ("/./g", "http://a.example/g"), ("/../g", "http://a.example/g"),
    ("g.", "http://a.example/b/c/g."), ("..g", "http://a.example/b/c/..g"), ("./g/.", "http://a.example/b/c/g/"),
    ("g/../h", "http://a.example/b/c/h"), ("g?y/../x", "http://a.example/b/c/g?y/../x"),
    ("https://x.example/", "https://x.example/"), ("javascript:1", "javascript:1"),
    ("a/b:c", "http://a.example/b/c/a/b:c"),
  ])
  func `a reference is resolved by RFC 3986`(reference: String, means: String) throws {
    let base = try #require(WebAddress("http://a.example/b/c/d?q"))
    #expect(base.resolve(reference) == means)
  }
}

extension AcceptedContent {
  /// Accepts pages and pictures.
  static let anything = AcceptedContent(
    accept: "*/*", [.init("text/html", maxBytes: 1_000, mayTruncate: true), .init("image/", maxBytes: 1_000)])
}
