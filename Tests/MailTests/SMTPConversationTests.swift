import ParleyModel
import Testing

@testable import Mail

@Suite struct SMTPConversationTests {
  private static let envelope: Envelope = {
    guard let sender = MailAddress("noreply@example.org"), let recipient = MailAddress("ada@example.org") else {
      fatalError("these are addresses")
    }
    return Envelope(sender: sender, recipient: recipient, content: Array("Subject: x\r\n\r\n.dot\r\n..\r\n".utf8))
  }()

  private static func conversation(_ url: String, password: String? = nil) throws -> SMTPConversation {
    SMTPConversation(with: try MailServer(url), password: password, helloName: "chat.example.org", envelope)
  }

  /// Plays the replies of a server. Returns the commands, and the outcome if there is one.
  private static func play(
    _ url: String, password: String? = nil, _ replies: [String]
  ) throws -> (commands: [String], outcome: MailOutcome?) {
    var conversation = try conversation(url, password: password)
    var commands: [String] = []
    for reply in replies {
      var steps = conversation.receive(Array(reply.replacing("\n", with: "\r\n").utf8))
      while let step = steps.first {
        steps.removeFirst()
        switch step {
        case .send(let bytes): commands.append(String(decoding: bytes, as: UTF8.self))
        case .startTLS:
          commands.append("(TLS)")
          steps = conversation.secured()
        case .finish(let outcome): return (commands, outcome)
        }
      }
    }
    return (commands, nil)
  }

  @Test func `a message is delivered`() throws {
    let (commands, outcome) = try Self.play(
      "smtp://localhost",
      ["220 hello\n", "250-mail\n250 SIZE 1000\n", "250 ok\n", "250 ok\n", "354 go\n", "250 taken\n"])
    #expect(outcome == .accepted)
    #expect(
      commands == [
        "EHLO chat.example.org\r\n", "MAIL FROM:<noreply@example.org> SIZE=24\r\n", "RCPT TO:<ada@example.org>\r\n",
        "DATA\r\n", "Subject: x\r\n\r\n..dot\r\n...\r\n.\r\n",
      ])
  }

  @Test func `a password is sent after STARTTLS alone`() throws {
    let (commands, outcome) = try Self.play(
      "smtp://ada%40example.org@mail.example.org", password: "secret",
      [
        "220 hello\n", "250-mail\n250-AUTH PLAIN LOGIN\n250 STARTTLS\n", "220 go\n", "250-mail\n250 AUTH LOGIN PLAIN\n",
        "235 welcome\n", "250 ok\n", "250 ok\n", "354 go\n", "250 taken\n",
      ])
    #expect(outcome == .accepted)
    #expect(commands[1] == "STARTTLS\r\n" && commands[2] == "(TLS)")
    // "\0ada@example.org\0secret"
    #expect(commands[4] == "AUTH PLAIN AGFkYUBleGFtcGxlLm9yZwBzZWNyZXQ=\r\n")
  }

  @Test func `AUTH LOGIN asks for name and password`() throws {
    let (commands, outcome) = try Self.play(
      "smtps://ada@mail.example.org", password: "secret",
      [
        "220 hello\n", "250-mail\n250 AUTH LOGIN\n", "334 VXNlcm5hbWU6\n", "334 UGFzc3dvcmQ6\n", "535 5.7.8 wrong\n",
      ])
    #expect(commands.dropFirst() == ["AUTH LOGIN\r\n", "YWRh\r\n", "c2VjcmV0\r\n"])
    #expect(outcome == .signInRefused(MailReply(code: 535, text: "5.7.8 wrong")))
  }

  @Test(arguments: ["smtp://mail.example.org", "smtp://ada@localhost"])
  func `nothing is sent without TLS`(url: String) throws {
    let (commands, outcome) = try Self.play(url, password: "secret", ["220 hello\n", "250-mail\n250 AUTH PLAIN\n"])
    #expect(commands == ["EHLO chat.example.org\r\n"] && outcome == .insecure)
  }

  @Test(arguments: ["220 go\n250 mail\n", "220 go\n2", "454 not now\n"])
  func `plaintext after the reply to STARTTLS ends the conversation`(reply: String) throws {
    let (commands, outcome) = try Self.play(
      "smtp://mail.example.org", ["220 hello\n", "250-mail\n250 STARTTLS\n", reply])
    #expect(commands.last == "STARTTLS\r\n")
    #expect(outcome == (reply.hasPrefix("454") ? .insecure : .unreachable("unexpected data")))
  }

  private static let dialogue = ["220 hello\n", "250 mail\n", "250 ok\n", "250 ok\n", "354 go\n", "250 taken\n"]

  @Test(arguments: [451, 552], 2...5)
  func `a reply to the message decides`(code: Int, at: Int) throws {
    var replies = Self.dialogue
    replies[at] = "\(code)-4.2.0 no\n\(code) more\n"
    let (commands, outcome) = try Self.play("smtp://localhost", replies)
    let reply = MailReply(code: code, text: "4.2.0 no more", isRecipient: at == 3)
    #expect(outcome == (code == 451 ? .deferred(reply) : .refused(reply)))
    #expect(commands.count == at)
  }

  @Test(arguments: [0, 1], [421, 554])
  func `a server that takes no mail now is unreachable`(at: Int, code: Int) throws {
    var replies = Self.dialogue
    replies[at] = "\(code) no service\n"
    #expect(try Self.play("smtp://localhost", replies).outcome == .unreachable("\(code) no service"))
  }

  @Test(arguments: [
    "hello\n", "22 hello\n", "220hello\n", "2200 hello\n", "120 hello\n", "620 hello\n", "220-a\n221 b\n",
    String(repeating: "2", count: 3_000), "220 \(String(repeating: "x", count: 3_000))\n",
    String(repeating: "220-x\n", count: 200),
  ])
  func `a malformed reply ends the conversation`(reply: String) throws {
    #expect(try Self.play("smtp://localhost", [reply]).outcome == .unreachable("malformed reply"))
  }

  @Test(arguments: 0..<6, ["250 and more\n", "421 bye\n", "2", "\n"])
  func `a second reply ends the conversation`(at: Int, more: String) throws {
    var replies = Self.dialogue
    replies[at] += more
    let outcome = try Self.play("smtp://localhost", replies).outcome
    // An accepted message is not sent again.
    #expect(outcome == (at == 5 ? .accepted : .unreachable("unexpected data")))
    var conversation = try Self.conversation("smtp://localhost")
    for reply in replies { _ = conversation.receive(Array(reply.utf8)) }
    #expect(!conversation.isIdle)
  }

  @Test(arguments: ["421 idle for too long\r\n", "250 ok\r\n", "2"])
  func `data without a command ends an idle conversation`(data: String) throws {
    var conversation = try Self.conversation("smtp://localhost")
    for reply in Self.dialogue { _ = conversation.receive(Array(reply.utf8)) }
    #expect(conversation.isIdle)
    #expect(conversation.receive(Array(data.utf8)) == [.finish(.unreachable("unexpected data"))])
    #expect(!conversation.isIdle)
  }

  @Test(arguments: [530, 534, 535, 538], 2...4)
  func `a server that wants a sign-in does not refuse the message`(code: Int, at: Int) throws {
    var replies = Self.dialogue
    replies[at] = "\(code) 5.7.0 authentication required\n"
    guard case .signInRefused(let reply) = try Self.play("smtp://localhost", replies).outcome else {
      Issue.record("it is taken for a refusal of the message")
      return
    }
    #expect(reply.code == code && !reply.isRecipient)
  }

  @Test(arguments: [
    ("5.1.1 no such user", true), ("5.2.2 mailbox full", true), ("no such user", true), ("", true), ("5 1 1", true),
    ("5.7.1 relay access denied", false), ("5.7.26 SPF", false), ("5.1.8 bad sender", false),
    ("5.4.5 daily limit", false),
  ])
  func `a refusal blames the recipient or not`(text: String, isRecipient: Bool) throws {
    var replies = Self.dialogue
    replies[3] = "550 \(text)\n"
    let outcome = try Self.play("smtp://localhost", replies).outcome
    #expect(outcome == .refused(MailReply(code: 550, text: text, isRecipient: isRecipient)))
  }

  @Test(arguments: [2, 3, 5]) func `a reply of another kind defers the message`(at: Int) throws {
    var replies = Self.dialogue
    replies[at] = "354 go\n"
    let reply = MailReply(code: 354, text: "go", isRecipient: at == 3)
    #expect(try Self.play("smtp://localhost", replies).outcome == .deferred(reply))
  }

  @Test(arguments: [
    ("chat.example.org", "chat.example.org"), ("192.0.2.1", "[192.0.2.1]"), ("[2001:db8::1]", "[IPv6:2001:db8::1]"),
    ("x\r\nRCPT TO:<a@b.c>", "x--RCPT-TO--a-b.c-"),
  ])
  func `the name of this host is a name or an address`(name: String, hello: String) throws {
    var conversation = SMTPConversation(
      with: try MailServer("smtp://localhost"), password: nil, helloName: name, Self.envelope)
    #expect(conversation.receive(Array("220 hello\r\n".utf8)) == [.send(Array("EHLO \(hello)\r\n".utf8))])
  }

  @Test func `replies may arrive byte by byte`() throws {
    let bytes = Self.dialogue.map { $0.map(String.init) }
    #expect(try Self.play("smtp://localhost", bytes.flatMap(\.self)).outcome == .accepted)
  }

  @Test func `a message beyond the size of the server is not sent`() throws {
    let (commands, outcome) = try Self.play("smtp://localhost", ["220 hello\n", "250-mail\n250 SIZE 10\n"])
    #expect(commands.count == 1)
    guard case .refused(let reply)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(reply.code == 552)
  }

  @Test func `a second message follows on the same connection`() throws {
    var conversation = try Self.conversation("smtp://localhost")
    for reply in Self.dialogue { _ = conversation.receive(Array(reply.utf8)) }
    #expect(conversation.isIdle && conversation.hasReplied)
    #expect(conversation.begin(Self.envelope) == [.send(Array("MAIL FROM:<noreply@example.org>\r\n".utf8))])
    #expect(!conversation.hasReplied)
  }

  @Test func `random replies crash nothing`() throws {
    var generator = SystemRandomNumberGenerator()
    let pieces = [
      "220", "250", "334", "354", "421", "535", "-", " ", "\r\n", "\n", "AUTH PLAIN", "STARTTLS", "\0", "é", "9",
    ]
    for _ in 0..<2_000 {
      var conversation = try Self.conversation("smtp://ada@mail.example.org", password: "x")
      for _ in 0..<20 {
        let text = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
          pieces.randomElement(using: &generator) ?? ""
        }
        let steps = conversation.receive(Array(text.joined().utf8))
        if case .finish? = steps.first { break }
        if steps.first == .startTLS { _ = conversation.secured() }
      }
    }
  }

  @Test(arguments: [
    ("smtps://mail.example.org", "mail.example.org", 465, nil, MailServer.Security.tls),
    ("smtp://mail.example.org/", "mail.example.org", 587, nil, .startTLS),
    ("smtp://ada%40example.org@mail.example.org:2525", "mail.example.org", 2525, "ada@example.org", .startTLS),
    ("smtp://localhost", "localhost", 25, nil, .none),
    ("smtp://[::1]:25", "::1", 25, nil, .none),
    ("smtp://ada@127.0.0.1", "127.0.0.1", 25, "ada", .startTLS),
    ("smtp://127.1.2.3", "127.1.2.3", 25, nil, .none),
    // A name, not an address.
    ("smtp://127.0.0.1.example.org", "127.0.0.1.example.org", 587, nil, .startTLS),
    ("smtp://localhost.example.org", "localhost.example.org", 587, nil, .startTLS),
  ])
  func `a mail server has an address`(
    url: String, host: String, port: Int, user: String?, security: MailServer.Security
  ) throws {
    let server = try MailServer(url)
    #expect(server.host == host && server.port == port && server.user == user && server.security == security)
  }

  @Test(arguments: [
    "", "mail.example.org", "http://mail.example.org", "smtp://", "smtp://@mail.example.org", "smtp://a b",
    "smtp://mail.example.org/path", "smtp://mail.example.org:0x", "smtp://%zz@mail.example.org",
    "smtp://mail.example.org:0",
    "smtp://ada:secret@mail.example.org",
  ])
  func `what is no address of a mail server is refused`(url: String) {
    #expect(throws: url.contains("secret") ? MailServer.Fault.hasPassword : .malformed) { try MailServer(url) }
  }
}
