// The client side of SMTP (RFC 5321) as values, without a socket: replies in, commands out. One message at a time; a
// conversation that has delivered one waits for the next.

import ParleyModel
import ParleyWire

/// A message with its envelope.
struct Envelope: Sendable {
  /// Nil for the null sender.
  let sender: MailAddress?
  let recipient: MailAddress
  let content: [UInt8]
}

struct SMTPConversation {
  /// The next action of the connection.
  enum Step: Hashable {
    case send([UInt8])
    case startTLS
    /// The message is done. The connection may take another one if it was accepted, and closes otherwise.
    case finish(MailOutcome)
  }

  private enum State {
    case greeting, hello, startTLS, credentials, loginName, loginPassword, idle, sender, recipient, data, content
    /// The connection takes no more messages.
    case ended
  }

  private let server: MailServer
  private let password: String?
  private let helloName: String
  private var isSecure: Bool
  private var state = State.greeting
  private var replies = SMTPReplies()
  private var extensions: [String: String] = [:]
  private var envelope: Envelope
  /// Whether a reply to the present message has come. Without one, an idle connection was lost, not the message.
  private(set) var hasReplied = false

  static let maxContentBytes = 1_048_576

  init(with server: MailServer, password: String?, helloName: String, _ envelope: Envelope) {
    self.server = server
    self.password = password
    self.helloName = Self.hello(helloName)
    self.envelope = envelope
    isSecure = server.security == .tls
  }

  var isIdle: Bool { state == .idle }
  /// The content was sent: the mail server needs time to store it.
  var awaitsAcceptance: Bool { state == .content }

  /// Begins the next message of an idle conversation.
  mutating func begin(_ envelope: Envelope) -> [Step] {
    self.envelope = envelope
    hasReplied = false
    return [beginMessage()]
  }

  /// The TLS handshake is complete.
  mutating func secured() -> [Step] {
    isSecure = true
    extensions = [:]
    return [hello()]
  }

  mutating func receive(_ bytes: [UInt8]) -> [Step] {
    guard state != .idle, state != .ended else { return [unexpected()] }
    replies.append(bytes)
    do throws(SMTPReplies.Fault) {
      guard let reply = try replies.next() else { return [] }
      hasReplied = true
      // The reply to the content counts, even if the server closes the connection with another one: else the message would be
      // sent again and again.
      if state == .content {
        defer { if replies.hasMore { state = .ended } }
        return [step(after: reply)]
      }
      // Commands are sent one by one, so a second reply belongs to none. Before TLS it may be that of an attacker.
      return [replies.hasMore ? unexpected() : step(after: reply)]
    } catch {
      return [.finish(.unreachable("malformed reply"))]
    }
  }

  private mutating func unexpected() -> Step {
    state = .ended
    return .finish(.unreachable("unexpected data"))
  }

  private mutating func step(after reply: SMTPReplies.Reply) -> Step {
    let isPositive = (200..<300).contains(reply.code)
    switch state {
    case .greeting: return reply.code == 220 ? hello() : .finish(unavailable(reply))
    case .hello: return reply.code == 250 ? afterHello(reply) : .finish(unavailable(reply))
    case .startTLS:
      guard reply.code == 220 else { return .finish(.insecure) }
      return .startTLS
    case .loginName:
      guard reply.code == 334 else { return signInFailed(reply) }
      return command(Base64.encode(Array((server.user ?? "").utf8), .standard), .loginPassword)
    case .loginPassword:
      guard reply.code == 334 else { return signInFailed(reply) }
      return command(Base64.encode(Array((password ?? "").utf8), .standard), .credentials)
    case .credentials: return reply.code == 235 ? beginMessage() : signInFailed(reply)
    case .idle, .ended: return unexpected()
    case .sender:
      guard isPositive else { return .finish(outcome(reply)) }
      return command("RCPT TO:<\(envelope.recipient)>", .recipient)
    case .recipient:
      guard isPositive else { return .finish(outcome(reply, isRecipient: true)) }
      return command("DATA", .data)
    case .data:
      guard reply.code == 354 else { return .finish(outcome(reply)) }
      state = .content
      return .send(Self.stuffed(envelope.content) + Array(".\r\n".utf8))
    case .content:
      guard isPositive else { return .finish(outcome(reply)) }
      state = .idle
      return .finish(.accepted)
    }
  }

  private mutating func command(_ text: String, _ next: State) -> Step {
    state = next
    return .send(Array("\(text)\r\n".utf8))
  }

  private mutating func hello() -> Step { command("EHLO \(helloName)", .hello) }

  private mutating func afterHello(_ reply: SMTPReplies.Reply) -> Step {
    for line in reply.lines.dropFirst() {
      let parts = line.split(separator: " ", maxSplits: 1)
      if let name = parts.first { extensions[name.uppercased()] = parts.count > 1 ? parts[1].uppercased() : "" }
    }
    if !isSecure, server.security == .startTLS {
      return extensions["STARTTLS"] == nil ? .finish(.insecure) : command("STARTTLS", .startTLS)
    }
    guard let user = server.user, let password else { return beginMessage() }
    let mechanisms = (extensions["AUTH"] ?? "").split(separator: " ")
    if mechanisms.contains("PLAIN") {
      let credentials = Base64.encode([0] + Array(user.utf8) + [0] + Array(password.utf8), .standard)
      return command("AUTH PLAIN \(credentials)", .credentials)
    }
    if mechanisms.contains("LOGIN") { return command("AUTH LOGIN", .loginName) }
    return .finish(.signInRefused(MailReply(code: reply.code, text: "neither AUTH PLAIN nor AUTH LOGIN is offered")))
  }

  private func signInFailed(_ reply: SMTPReplies.Reply) -> Step {
    let isTemporary = (400..<500).contains(reply.code)
    return .finish(
      isTemporary ? unavailable(reply) : .signInRefused(MailReply(code: reply.code, text: reply.text)))
  }

  private mutating func beginMessage() -> Step {
    let size = envelope.content.count
    if let limit = extensions["SIZE"].flatMap({ Int($0) }), limit > 0, size > limit {
      return .finish(
        .refused(MailReply(code: 552, text: "the message is larger than the \(limit) bytes of the server")))
    }
    let parameter = extensions["SIZE"] == nil ? "" : " SIZE=\(size)"
    return command("MAIL FROM:<\(envelope.sender?.description ?? "")>\(parameter)", .sender)
  }

  /// A reply before the message: the server takes none now.
  private func unavailable(_ reply: SMTPReplies.Reply) -> MailOutcome {
    .unreachable("\(MailReply(code: reply.code, text: reply.text))")
  }

  /// A reply to the message.
  private func outcome(_ reply: SMTPReplies.Reply, isRecipient: Bool = false) -> MailOutcome {
    let said = MailReply(code: reply.code, text: reply.text, isRecipient: isRecipient && reply.isAboutRecipient)
    // RFC 4954 §6: the server wants a sign-in, so the reply is not about this message.
    if [530, 534, 535, 538].contains(reply.code) { return .signInRefused(said) }
    return reply.code >= 500 ? .refused(said) : .deferred(said)
  }

  /// The name of this host in EHLO (RFC 5321 §4.1.3). No character of it ends the command.
  private static func hello(_ name: String) -> String {
    guard let address = IPAddress(name) else { return HeaderText.atom(name) }
    return address.ipv4 == nil ? "[IPv6:\(address)]" : "[\(address)]"
  }

  /// RFC 5321 §4.5.2: a dot at the beginning of a line is doubled.
  private static func stuffed(_ content: [UInt8]) -> [UInt8] {
    var stuffed: [UInt8] = []
    stuffed.reserveCapacity(content.count + 64)
    var isStart = true
    for byte in content {
      if isStart, byte == UInt8(ascii: ".") { stuffed.append(byte) }
      stuffed.append(byte)
      isStart = byte == UInt8(ascii: "\n")
    }
    return stuffed
  }
}
