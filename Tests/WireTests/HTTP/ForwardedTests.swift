import ParleyWire
import Testing

@Suite struct ForwardedTests {
  static let rows: [(KeyValuePairs<String, String>, String?)] = [
    (["Forwarded": "for=192.0.2.60;proto=https;host=garden.example"], "192.0.2.60 https garden.example"),
    (["Forwarded": "For=\"[2001:db8::1]:4711\", for=unknown;by=_x"], "2001:db8::1 - - | unknown - -"),
    (["Forwarded": "for=_hidden", "Forwarded": "for=192.0.2.1"], "_hidden - - | 192.0.2.1 - -"),
    (
      ["X-Forwarded-For": "192.0.2.1, 2001:db8::1", "X-Forwarded-Proto": "https"], "192.0.2.1 - - | 2001:db8::1 https -"
    ),
    (["X-Forwarded-For": "192.0.2.1:80", "X-Forwarded-Host": "a:81"], "192.0.2.1 - a:81"),
    (["Forwarded": "for=192.0.2.1", "X-Forwarded-For": "evil"], "192.0.2.1 - -"),
    ([:], ""),
    (["Forwarded": "for=192.0.2.256"], nil), (["Forwarded": "for=[2001:db8::1]"], nil), (["Forwarded": "for"], nil),
    (["Forwarded": "for=a;for=b"], nil), (["Forwarded": "proto=gopher"], nil), (["Forwarded": "host=\"a b\""], nil),
    (["X-Forwarded-For": "garden.example"], nil), (["X-Forwarded-Proto": "https https"], nil),
    (["X-Forwarded-Host": "a/b"], nil),
  ]

  @Test(arguments: rows)
  func `proxy hops are parsed or all are ignored`(_ fields: KeyValuePairs<String, String>, _ expected: String?) {
    let hops = Forwarded(Fields(fields))?.hops.map { "\($0.client ?? "-") \($0.scheme ?? "-") \($0.host ?? "-")" }
    #expect(hops?.joined(separator: " | ") == expected)
  }

  @Test func `only hops of trusted proxies are used`() {
    let forwarded = Forwarded(Fields(["X-Forwarded-For": "1.1.1.1, 2.2.2.2, 3.3.3.3"]))
    #expect(forwarded?.hop(behind: 1)?.client == "3.3.3.3")
    #expect(forwarded?.hop(behind: 2)?.client == "2.2.2.2")
    #expect(forwarded?.hop(behind: 4) == nil)
    #expect(forwarded?.hop(behind: 0) == nil)
  }
}
