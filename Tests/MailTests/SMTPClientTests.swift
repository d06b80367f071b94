import ParleyModel
import ParleyNetworking
import Testing

@testable import Mail

/// A server that takes all mail.
private func polite(_ command: String) -> [ScriptedMailServer.Action] {
  switch command.prefix(4) {
  case "": [.say("220 mail ESMTP")]
  case "EHLO": [.say("250-mail\r\n250-STARTTLS\r\n250-SIZE 1000000\r\n250 AUTH PLAIN LOGIN")]
  case "STAR": [.say("220 go"), .startTLS]
  case "AUTH": [.say("235 2.7.0 welcome")]
  case "DATA": [.say("354 go")]
  case "QUIT": [.say("221 bye"), .close]
  default: [.say("250 ok")]
  }
}

private func message(_ id: String = "1", to recipient: String = "ada@example.org") throws -> MailMessage {
  MailMessage(
    from: try #require(MailAddress("noreply@example.org")), name: "Garden", to: try #require(MailAddress(recipient)),
    subject: "Hello", text: ".\nHi\n..", html: nil, date: 1_795_833_000_000, id: id)
}

private func identity(_ name: String) throws -> (server: TLSConfiguration, roots: TLSConfiguration.Trust) {
  let pair = try SelfSigned(names: [name])
  let identity = TLSConfiguration.Identity(
    certificates: pair.certificate, key: pair.key, ticketKeys: .init(repeating: 7, count: 80))
  return (TLSConfiguration(role: .server(identity)), .roots(pair.certificate))
}

private func eventually(_ condition: () -> Bool) async -> Bool {
  let end = ContinuousClock.now + .seconds(60)
  while ContinuousClock.now < end {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return condition()
}

extension ScriptedMailServer {
  fileprivate func client(
    _ scheme: String = "smtp", user: String? = nil, trust: TLSConfiguration.Trust = .roots([]), addresses: Int? = nil,
    timeouts: SMTPTimeouts = SMTPTimeouts()
  ) throws -> SMTPClient {
    let url = "\(scheme)://\(user.map { $0 + "@" } ?? "")127.0.0.1:\(address.port ?? 0)"
    return try SMTPClient(
      try MailServer(url), password: user.map { _ in "right" }, trust: trust, helloName: "chat.example.org",
      timeouts: timeouts, addresses: addresses.map { Array(repeating: address, count: $0) })
  }
}

@Suite struct SMTPClientTests {
  @Test func `messages share a connection`() async throws {
    try await ScriptedMailServer.run({ _, command in polite(command) }) { server in
      let client = try server.client()
      for id in ["1", "2", "3"] { #expect(await client.send(try message(id)) == .accepted) }
      #expect(server.connectionCount == 1)
      #expect(server.commands.count { $0.hasPrefix("EHLO") } == 1 && server.commands.count { $0 == "DATA" } == 3)
      #expect(server.contents.map { $0.contains("Message-ID: <2@example.org>") } == [false, true, false])
      // The body, with doubled dots.
      #expect(server.contents.allSatisfy { $0.hasSuffix("\r\n\r\n..\r\nHi\r\n...") })
    }
  }

  @Test func `an idle connection is closed`() async throws {
    try await ScriptedMailServer.run({ _, command in polite(command) }) { server in
      var timeouts = SMTPTimeouts()
      timeouts.idle = 1
      let client = try server.client(timeouts: timeouts)
      #expect(await client.send(try message()) == .accepted)
      #expect(await eventually { server.commands.last == "QUIT" })
      #expect(await client.send(try message()) == .accepted)
      #expect(server.connectionCount == 2)
    }
  }

  @Test(arguments: ["smtp", "smtps"]) func `a password is sent under TLS`(scheme: String) async throws {
    let (tls, roots) = try identity("127.0.0.1")
    try await ScriptedMailServer.run(tls: tls, isImplicit: scheme == "smtps", { _, command in polite(command) }) {
      server in
      let client = try server.client(scheme, user: "ada", trust: roots)
      #expect(await client.send(try message()) == .accepted)
      #expect(server.commands.contains("*AUTH PLAIN AGFkYQByaWdodA=="))
      let plain = server.commands.filter { !$0.hasPrefix("*") }
      #expect(plain == (scheme == "smtp" ? ["EHLO chat.example.org", "STARTTLS"] : []))
    }
  }

  @Test(arguments: ["smtp", "smtps"]) func `a server without the right certificate gets nothing`(scheme: String)
    async throws
  {
    let (tls, roots) = try identity("mail.example.org")
    let (_, others) = try identity("127.0.0.1")
    try await ScriptedMailServer.run(tls: tls, isImplicit: scheme == "smtps", { _, command in polite(command) }) {
      server in
      for trust in [roots, others] {
        let client = try server.client(scheme, user: "ada", trust: trust)
        guard case .untrusted = await client.send(try message()) else {
          Issue.record("the server is trusted")
          return
        }
      }
      #expect(!server.commands.contains { $0.hasPrefix("*") || $0.contains("AUTH") })
    }
  }

  @Test(arguments: [
    [ScriptedMailServer.Action.say("220 go\r\n250 mail"), .startTLS], [.say("220 go\r\n2"), .startTLS],
    [.say("220 go"), .say("250 mail")],
  ])
  func `replies injected before TLS are refused`(actions: [ScriptedMailServer.Action]) async throws {
    let (tls, roots) = try identity("127.0.0.1")
    try await ScriptedMailServer.run(tls: tls, { _, command in command == "STARTTLS" ? actions : polite(command) }) {
      server in
      let outcome = try await server.client("smtp", user: "ada", trust: roots).send(try message())
      #expect(outcome == .unreachable("unexpected data"))
      #expect(!server.commands.contains { $0.contains("AUTH") || $0.contains("MAIL") })
    }
  }

  private static let stages = ["", "EHLO", "MAIL", "RCPT", "DATA", "CONTENT"]

  @Test(arguments: stages, [ScriptedMailServer.Action.close, .abort])
  func `a lost connection is no delivery`(stage: String, end: ScriptedMailServer.Action) async throws {
    let script: ScriptedMailServer.Script = { _, command in
      stage.isEmpty ? (command.isEmpty ? [end] : []) : command.hasPrefix(stage) ? [end] : polite(command)
    }
    try await ScriptedMailServer.run(script) { server in
      guard case .unreachable = try await server.client(addresses: 2).send(try message()) else {
        Issue.record("the message is not lost")
        return
      }
      // Another address is tried, unless the server may have the message.
      #expect(server.connectionCount == (stage == "CONTENT" ? 1 : 2))
    }
  }

  @Test(arguments: stages) func `a silent server times out`(stage: String) async throws {
    let script: ScriptedMailServer.Script = { _, command in
      command.isEmpty
        ? (stage.isEmpty ? [] : polite("")) : !stage.isEmpty && command.hasPrefix(stage) ? [] : polite(command)
    }
    try await ScriptedMailServer.run(script) { server in
      var timeouts = SMTPTimeouts()
      if stage == "CONTENT" { timeouts.acceptance = 1 } else { timeouts.reply = 1 }
      let client = try server.client(timeouts: timeouts)
      #expect(await client.send(try message()) == .timedOut)
      #expect(server.connectionCount == 1)
    }
  }

  @Test func `an address without an answer to the connect is followed by the next`() async throws {
    // The server waits for a command, the client for the handshake.
    try await ScriptedMailServer.run({ _, _ in [] }) { server in
      var timeouts = SMTPTimeouts()
      timeouts.connect = 1
      let outcome = try await server.client("smtps", addresses: 2, timeouts: timeouts).send(try message())
      #expect(outcome == .unreachable("connect timed out"))
      #expect(server.connectionCount == 2)
    }
  }

  @Test(arguments: [
    [ScriptedMailServer.Action.close], [.abort], [.say("421 4.4.2 idle for too long"), .close], [.say("2"), .abort],
  ])
  func `a message on a lost idle connection is sent on a new one`(actions: [ScriptedMailServer.Action]) async throws {
    let script: ScriptedMailServer.Script = { connection, command in
      connection == 1 && command.hasPrefix("MAIL") && command.contains("b@") ? actions : polite(command)
    }
    try await ScriptedMailServer.run(script) { server in
      let client = try server.client()
      for (subject, sender) in [("1", "a@example.org"), ("2", "b@example.org")] {
        var message = try message(subject)
        message.returnPath = .address(try #require(MailAddress(sender)))
        #expect(await client.send(message) == .accepted)
      }
      #expect(server.connectionCount == 2 && server.contents.count == 2)
    }
  }

  @Test(arguments: ["250 taken\r\n421 bye", "250 taken\r\n2"])
  func `an accepted message is not sent again`(reply: String) async throws {
    try await ScriptedMailServer.run({ _, command in command == "CONTENT" ? [.say(reply)] : polite(command) }) {
      server in
      let client = try server.client(addresses: 2)
      #expect(await client.send(try message()) == .accepted)
      #expect(server.contents.count == 1)
      // The connection is not used again.
      #expect(await client.send(try message()) == .accepted)
      #expect(server.connectionCount == 2)
    }
  }

  @Test(arguments: [450, 550]) func `a refused message does not disturb the next`(code: Int) async throws {
    let script: ScriptedMailServer.Script = { _, command in
      command.contains("eve") ? [.say("\(code) 5.1.1 unknown")] : polite(command)
    }
    try await ScriptedMailServer.run(script) { server in
      let client = try server.client()
      let reply = MailReply(code: code, text: "5.1.1 unknown", isRecipient: true)
      #expect(
        await client.send(try message(to: "eve@example.org")) == (code == 450 ? .deferred(reply) : .refused(reply)))
      #expect(await client.send(try message()) == .accepted)
      #expect(server.contents.count == 1)
    }
  }

  @Test func `concurrent messages are all sent`() async throws {
    try await ScriptedMailServer.run({ _, command in polite(command) }) { server in
      let client = try server.client()
      let messages = try (0..<20).map { try message("\($0)") }
      await withTaskGroup(of: MailOutcome.self) { group in
        for message in messages { group.addTask { await client.send(message) } }
        for await outcome in group { #expect(outcome == .accepted) }
      }
      #expect(server.contents.count == 20)
    }
  }

  @Test func `a closed client waits for no server`() async throws {
    try await ScriptedMailServer.run({ _, _ in [] }) { server in
      let client = try server.client()
      let message = try message()
      async let outcome = client.send(message)
      #expect(await eventually { server.connectionCount == 1 })
      client.close()
      #expect(await outcome == .unreachable("the server is stopping"))
    }
  }

  @Test func `an unknown host is unreachable`() async throws {
    let client = try SMTPClient(
      try MailServer("smtp://mail.invalid"), password: nil, trust: .roots([]), helloName: "chat.example.org")
    #expect(await client.send(try message()) == .unreachable("the name mail.invalid is not found"))
  }
}
