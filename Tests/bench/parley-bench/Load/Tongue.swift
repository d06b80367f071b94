/// What a server of rooms is spoken to in.
enum Tongue: String, Sendable, CaseIterable {
  /// Ours. Messages are posted over REST.
  case parley
  /// Rooms of XMPP (XEP-0045) over WebSocket (RFC 7395), for people without a name (RFC 4505).
  case xmpp
  /// NATS over WebSocket: a subject, which keeps nothing.
  case nats

  var subprotocols: [String] {
    switch self {
    case .parley: ["parley.v1"]
    case .xmpp: ["xmpp"]
    case .nats: []
    }
  }

  var isBinary: Bool { self == .nats }
}

/// One member on its way into a room: what it says to what it hears.
struct Entrance {
  private let tongue: Tongue
  private let room: String
  private let member: Int
  private(set) var isIn = false
  private var isKnown = false

  init(_ tongue: Tongue, room: String, member: Int) {
    self.tongue = tongue
    self.room = room
    self.member = member
  }

  /// What is said first.
  var opening: String? {
    switch tongue {
    case .parley: nil
    case .xmpp: Self.open
    case .nats: #"CONNECT {"verbose":false,"pedantic":false,"tls_required":false}"# + "\r\nSUB \(room) 1\r\nPING\r\n"
    }
  }

  private static let open = #"<open xmlns="urn:ietf:params:xml:ns:xmpp-framing" to="localhost" version="1.0"/>"#

  mutating func answer(to heard: String) -> String? {
    switch tongue {
    case .parley:
      isIn = heard.contains(#""event":"complete""#)
      return nil
    case .nats:
      isIn = heard.contains("PONG\r\n")
      return nil
    case .xmpp: return answerStanza(heard)
    }
  }

  private mutating func answerStanza(_ heard: String) -> String? {
    if heard.contains("<success") {
      isKnown = true
      return Self.open
    }
    if heard.contains("features"), heard.contains("ANONYMOUS"), !isKnown {
      return #"<auth xmlns="urn:ietf:params:xml:ns:xmpp-sasl" mechanism="ANONYMOUS"/>"#
    }
    if heard.contains("features"), isKnown {
      return #"<iq xmlns="jabber:client" type="set" id="bind"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>"#
    }
    if heard.contains("<jid>") {
      return #"<presence xmlns="jabber:client" to="\#(room)/member\#(member)">"#
        + #"<x xmlns="http://jabber.org/protocol/muc"><history maxstanzas="0"/></x></presence>"#
    }
    // XEP-0045 §7.2.15: the subject is the last that is told to who comes in.
    if heard.contains("<subject") { isIn = true }
    return nil
  }
}

/// Finds the numbers of messages in what is heard, however it is cut: eight digits between two tildes.
struct NumberScanner {
  private var digits = -1
  private var number = 0

  static func mark(_ number: Int) -> String {
    let digits = String(number)
    return "~" + String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits + "~"
  }

  mutating func scan(_ bytes: [UInt8], _ found: (Int) -> Void) {
    var place = 0
    while place < bytes.count {
      if digits < 0 {
        place = bytes.span.place(of: UInt8(ascii: "~"), from: place) + 1
        if place <= bytes.count { (digits, number) = (0, 0) }
        continue
      }
      let byte = bytes[place]
      place += 1
      if digits == 8 {
        if byte == UInt8(ascii: "~") { found(number) }
        digits = -1
      } else if byte &- 0x30 < 10 {
        number = number * 10 + Int(byte &- 0x30)
        digits += 1
      } else {
        digits = -1
      }
    }
  }
}
