import Testing

@testable import ParleyWire

struct PerMessageDeflateTests {
  private func answer(_ offers: [String], _ policy: PerMessageDeflate.Policy) -> String? {
    ExtensionElement.list(offers).flatMap { PerMessageDeflate.accept($0, by: policy)?.answer }
  }

  static let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

  /// Offers, and the response of a server without context takeover and with a window of 15 bits; nil declines.
  static let offers: [(offer: String, answer: String?)] = [
    ("permessage-deflate", both),
    ("permessage-deflate; client_max_window_bits", both),
    ("permessage-deflate; client_max_window_bits=15", both),
    ("permessage-deflate; client_max_window_bits=10", both + "; client_max_window_bits=10"),
    ("permessage-deflate; client_max_window_bits=\"10\"", both + "; client_max_window_bits=10"),
    ("permessage-deflate; client_max_window_bits=\"1\\0\"", both + "; client_max_window_bits=10"),
    ("permessage-deflate ;  client_max_window_bits = 8", both + "; client_max_window_bits=8"),
    ("permessage-deflate; server_max_window_bits=8", both + "; server_max_window_bits=8"),
    ("permessage-deflate; server_max_window_bits=15", both + "; server_max_window_bits=15"),
    ("permessage-deflate; server_max_window_bits=\"12\"", both + "; server_max_window_bits=12"),
    ("permessage-deflate; server_no_context_takeover; client_no_context_takeover", both),
    ("x-other; a=b, permessage-deflate", both),
    // Declined: a missing, invalid or superfluous value, a duplicate or unknown parameter.
    ("permessage-deflate; server_max_window_bits", nil),
    ("permessage-deflate; server_max_window_bits=7", nil),
    ("permessage-deflate; server_max_window_bits=16", nil),
    ("permessage-deflate; server_max_window_bits=08", nil),
    ("permessage-deflate; server_max_window_bits=+9", nil),
    ("permessage-deflate; server_max_window_bits=x", nil),
    ("permessage-deflate; client_max_window_bits=7", nil),
    ("permessage-deflate; client_max_window_bits=16", nil),
    ("permessage-deflate; client_max_window_bits=009", nil),
    ("permessage-deflate; client_max_window_bits; client_max_window_bits=9", nil),
    ("permessage-deflate; server_no_context_takeover=1", nil),
    ("permessage-deflate; client_no_context_takeover=true", nil),
    ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil),
    ("permessage-deflate; unknown", nil),
    ("permessage-deflate; unknown=1", nil),
    ("x-webkit-deflate-frame", nil),
    ("Permessage-Deflate", nil),
    ("", nil),
    // The first acceptable offer is chosen.
    ("permessage-deflate; server_max_window_bits=99, permessage-deflate", both),
    ("permessage-deflate; server_max_window_bits=10, permessage-deflate", both + "; server_max_window_bits=10"),
    (
      ", ,permessage-deflate; unknown,, permessage-deflate; client_max_window_bits=9,",
      both + "; client_max_window_bits=9"
    ),
  ]

  @Test(arguments: offers) func `an offer is accepted or declined according to RFC 7692`(
    offer: String, answer expected: String?
  ) {
    #expect(answer([offer], .init()) == expected)
  }

  @Test func `offers may be in several fields`() {
    #expect(answer(["permessage-deflate; unknown", "permessage-deflate"], .init()) == Self.both)
  }

  static let policies: [(keepsContext: Bool, windowBits: Int, offer: String, answer: String?)] = [
    (true, 15, "permessage-deflate", "permessage-deflate"),
    (true, 15, "permessage-deflate; client_max_window_bits", "permessage-deflate"),
    (true, 15, "permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"),
    (true, 15, "permessage-deflate; client_no_context_takeover", "permessage-deflate; client_no_context_takeover"),
    (true, 10, "permessage-deflate", "permessage-deflate; server_max_window_bits=10"),
    (
      true, 10, "permessage-deflate; client_max_window_bits",
      "permessage-deflate; server_max_window_bits=10; client_max_window_bits=10"
    ),
    (
      true, 10, "permessage-deflate; server_max_window_bits=12; client_max_window_bits=9",
      "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9"
    ),
  ]

  @Test(arguments: policies) func `the response depends on the route's policy`(
    keepsContext: Bool, windowBits: Int, offer: String, answer expected: String?
  ) {
    #expect(answer([offer], .init(keepsContext: keepsContext, windowBits: windowBits)) == expected)
  }

  /// Responses to a client that offered no context takeover and a window of 12 bits.
  static let answers: [(answer: String, isAccepted: Bool)] = [
    ("permessage-deflate; server_no_context_takeover; server_max_window_bits=12", true),
    ("permessage-deflate; server_no_context_takeover; server_max_window_bits=9; client_max_window_bits=8", true),
    ("permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12", true),
    ("permessage-deflate; server_no_context_takeover", false),
    ("permessage-deflate; server_max_window_bits=12", false),
    ("permessage-deflate; server_no_context_takeover; server_max_window_bits=13", false),
    ("permessage-deflate; server_no_context_takeover; server_max_window_bits=12; client_max_window_bits", false),
    ("permessage-deflate; server_no_context_takeover; server_max_window_bits=12; unknown", false),
  ]

  @Test(arguments: answers) func `a response that does not satisfy the offer is refused`(
    answer: String, isAccepted: Bool
  ) {
    let element = ExtensionElement.list([answer])?.first
    let agreed = element.flatMap { PerMessageDeflate.read($0, to: .init(windowBits: 12)) }
    #expect((agreed != nil) == isAccepted)
  }
}
