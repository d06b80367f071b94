/// The protocol of a chat room server.
enum RoomProtocol: String, Sendable, CaseIterable {
  /// Parley. Messages are posted over REST.
  case parley
  /// XMPP multi-user chat (XEP-0045) over WebSocket (RFC 7395), with anonymous users (RFC 4505).
  case xmpp
  /// A NATS subject over WebSocket, without storage.
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

/// The handshake of a member that joins a room.
struct RoomHandshake {
  private let roomProtocol: RoomProtocol
  private let room: String
  private let member: Int
  private(set) var hasJoined = false
  private var isAuthenticated = false

  init(_ roomProtocol: RoomProtocol, room: String, member: Int) {
    self.roomProtocol = roomProtocol
    self.room = room
    self.member = member
  }

  /// The first message of the client.
  var opening: String? {
    switch roomProtocol {
    case .parley: nil
    case .xmpp: Self.open
    case .nats: #"CONNECT {"verbose":false,"pedantic":false,"tls_required":false}"# + "\r\nSUB \(room) 1\r\nPING\r\n"
    }
  }

  private static let open = #"<open xmlns="urn:ietf:params:xml:ns:xmpp-framing" to="localhost" version="1.0"/>"#

  mutating func answer(to received: String) -> String? {
    switch roomProtocol {
    case .parley:
      hasJoined = received.contains(#""event":"complete""#)
      return nil
    case .nats:
      hasJoined = received.contains("PONG\r\n")
      return nil
    case .xmpp: return answerStanza(received)
    }
  }

  private mutating func answerStanza(_ received: String) -> String? {
    if received.contains("<success") {
      isAuthenticated = true
      return Self.open
    }
    if received.contains("features"), received.contains("ANONYMOUS"), !isAuthenticated {
      return #"<auth xmlns="urn:ietf:params:xml:ns:xmpp-sasl" mechanism="ANONYMOUS"/>"#
    }
    if received.contains("features"), isAuthenticated {
      return #"<iq xmlns="jabber:client" type="set" id="bind"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>"#
    }
    if received.contains("<jid>") {
      return #"<presence xmlns="jabber:client" to="\#(room)/member\#(member)">"#
        + #"<x xmlns="http://jabber.org/protocol/muc"><history maxstanzas="0"/></x></presence>"#
    }
    // XEP-0045 §7.2.15: the subject is the last stanza of the join.
    if received.contains("<subject") { hasJoined = true }
    return nil
  }
}

/// Finds message numbers in a byte stream, split anywhere: eight digits between two tildes.
struct NumberScanner {
  private var digits = -1
  private var number = 0

  static func marker(_ number: Int) -> String {
    let digits = String(number)
    return "~" + String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits + "~"
  }

  mutating func scan(_ bytes: [UInt8], _ found: (Int) -> Void) {
    var index = 0
    while index < bytes.count {
      if digits < 0 {
        index = bytes.span.offset(of: UInt8(ascii: "~"), from: index) + 1
        if index <= bytes.count { (digits, number) = (0, 0) }
        continue
      }
      let byte = bytes[index]
      index += 1
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
