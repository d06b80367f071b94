import Mail
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct IncomingMailTests {
  private static let day = 86_400_000

  /// Grace has an address, and got a mail about a mention in a room.
  private func open(
    _ body: (Village, StoppedClock, _ room: String, _ mail: MailMessage) async throws -> Void
  ) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.post("When, @grace?", in: room, as: "ada")
      clock.add(Int(MailDeliverer.unreadDelay))
      let mail = try #require(await village.mail().first)
      try await body(village, clock, room, mail)
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  // MARK: Replies

  /// A reply of Grace's mail program.
  private func reply(
    _ mail: MailMessage, _ text: String = "Thursday.\r\n\r\nOn 15.01.27 08:15, Garden wrote:\r\n> When, @grace?\r\n",
    from: String = "Grace <grace@example.org>", id: String = "<1@mail.example.org>", _ more: String = ""
  ) throws -> IncomingMail {
    let to = try #require(mail.replyTo)
    let header = "From: \(from)\r\nTo: Garden <\(to)>\r\nMessage-ID: \(id)\r\n\(more)"
    return try IncomingMail(Array("\(header)\r\n\(text)".utf8))
  }

  private func receive(_ mail: IncomingMail, _ village: Village) async throws -> MailReceipt {
    try await village.community.receiveMail(mail, over: village.mailDeliverer.service) { _ in }
  }

  @Test func `a reply is posted once, as a reply to the message`() async throws {
    try await open { village, _, room, mail in
      #expect(mail.replyTo?.description.hasPrefix("reply+r-") == true)
      #expect(mail.text.contains("Reply to this mail to answer."))
      #expect(try await receive(try reply(mail), village) == .posted)
      #expect(try await receive(try reply(mail), village) == .repeated)
      #expect(try await receive(try reply(mail, "another text"), village) == .repeated)
      #expect(try await receive(try reply(mail, "Friday.", id: "<2@mail.example.org>"), village) == .posted)
      let page = try await village.expect(200, .get, "/conversations/\(room)/messages", as: "ada")
      #expect(page["data.0.text"] == "Friday." && page["data.1.text"] == "Thursday.")
      #expect(page["data.1.author_id"] == village.id("grace") && page["data.1.reply_to"] == page["data.2.id"])
      #expect(!page.has("data.3"))
      #expect(await village.mail().isEmpty)
    }
  }

  enum Refused: CaseIterable {
    case banned, silenced, left, locked, otherAddress, noAddress, expired, empty, tooLong, unreadable

    var from: String {
      switch self {
      case .otherAddress: "Grace <eve@example.org>"
      case .noAddress: "grace@example.org, eve@example.org"
      case .banned, .silenced, .left, .locked, .expired, .empty, .tooLong, .unreadable: "grace@example.org"
      }
    }

    var text: String {
      switch self {
      case .empty: "\r\nOn 15.01.27 08:15, Garden wrote:\r\n> When, @grace?\r\n"
      case .tooLong: String(repeating: "word ", count: 4_000)
      case .banned, .silenced, .left, .locked, .otherAddress, .noAddress, .expired, .unreadable: "Thursday."
      }
    }

    var more: String { self == .unreadable ? "Content-Type: text/plain; charset=iso-2022-jp\r\n" : "" }

    var words: String {
      switch self {
      case .banned, .silenced, .left, .locked: "you can’t write there at the moment"
      case .otherAddress, .noAddress: "it came from another address than grace@example.org"
      case .expired: "mails can be answered for 30 days"
      case .empty, .unreadable: "it has no text above the quoted mail"
      case .tooLong: "it is too long"
      }
    }
  }

  @Test(arguments: Refused.allCases) func `a refused reply is explained once`(refused: Refused) async throws {
    try await open { village, clock, room, mail in
      switch refused {
      case .banned: try await village.setState("grace", in: .disabled)
      case .silenced:
        try await village.expect(200, .put, "/users/@grace/silence", as: "ada", ["reason": "noise"])
        _ = await village.mail()
      case .left:
        let forum = try await village.rows("select cast(id as text) from forum where room_id = \(room)")[0]
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
        try await village.expect(204, .delete, "/forums/\(forum)/members/@grace", as: "ada")
      case .locked:
        let forum = try await village.rows("select cast(id as text) from forum where room_id = \(room)")[0]
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["locked": true])
      case .expired: clock.add(31 * Self.day)
      case .otherAddress, .noAddress, .empty, .tooLong, .unreadable: break
      }
      for number in 1...3 {
        let reply = try reply(mail, refused.text, from: refused.from, id: "<\(number)@x>", refused.more)
        #expect(try await receive(reply, village) == .refused)
      }
      let sent = await village.mail().filter { $0.returnPath == .none }
      try #require(sent.count == 1)
      #expect(sent[0].to.description == "grace@example.org" && sent[0].subject.contains("was not posted"))
      #expect(sent[0].text.contains(refused.words), "\(sent[0].text)")
      #expect(sent[0].replyTo == nil && sent[0].unsubscribe == nil)
      // Another one within the hour gets no mail, a later one does.
      _ = try await receive(try reply(mail, refused.text, from: refused.from, id: "<8@x>", refused.more), village)
      #expect(await village.mail().filter { $0.returnPath == .none }.isEmpty)
      clock.add(3_600_001)
      _ = try await receive(try reply(mail, refused.text, from: refused.from, id: "<9@x>", refused.more), village)
      #expect(await village.mail().filter { $0.returnPath == .none }.count == 1)
      #expect(
        try await village.rows("select cast(count(*) as text) from message where author_id = \(village.id("grace"))")
          == ["0"])
    }
  }

  @Test func `the case of the sender does not matter`() async throws {
    try await open { village, _, _, mail in
      let receipt = try await receive(try reply(mail, from: "GRACE@Example.ORG"), village)
      #expect(receipt == .posted)
    }
  }

  @Test(arguments: ["Auto-Submitted: auto-replied\r\n", "Precedence: bulk\r\n", "Return-Path: <>\r\n"])
  func `an answer by a program is dropped`(field: String) async throws {
    try await open { village, _, _, mail in
      let receipt = try await receive(try reply(mail, id: "<2@x>", field), village)
      #expect(receipt == .ignored)
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `a code that the site has not made is dropped`() async throws {
    try await open { village, _, _, mail in
      let to = try #require(mail.replyTo).description
      let at = try #require(to.firstIndex(of: "@"))
      let code = to[..<at].split(separator: "+")[1]
      let parts: [String] = code.split(separator: "-").map(String.init)
      let linus = String(Int(village.id("linus")) ?? 0, radix: 36)
      func with(_ text: String, at index: Int) -> String {
        var changed = parts
        changed[index] = text
        return changed.joined(separator: "-")
      }
      let forged: [String] = [
        with("aaaaaaaaaaaaaaaa", at: 4), with(String(parts[4].dropLast()), at: 4), with(linus, at: 1),
        with("zzz", at: 3),
        with("b", at: 0), with("x", at: 0), with("zzzzzzzzzzzzzzzzz", at: 1), with("0", at: 2), "r",
      ]
      for forgery in forged {
        let text = "From: grace@example.org\r\nTo: reply+\(forgery)@example.org\r\n\r\nThursday."
        #expect(try await receive(try IncomingMail(Array(text.utf8)), village) == .ignored)
      }
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `a user without the required second factor posts nothing by mail`() async throws {
    try await open { village, clock, _, mail in
      try await village.prove("ada")
      try await village.changeSettings(["require_second_factor": "all"])
      clock.add(8 * Self.day)
      #expect(try await receive(try reply(mail), village) == .refused)
    }
  }

  @Test func `files are left out, and a mail says so`() async throws {
    try await open { village, _, room, mail in
      let more = "Content-Type: multipart/mixed; boundary=b\r\n"
      let text = """
        --b\r
        \r
        See the plan.\r
        --b\r
        Content-Type: image/png\r
        Content-Disposition: attachment; filename=plan.png\r
        \r
        x\r
        --b--\r

        """
      #expect(try await receive(try reply(mail, text, id: "<1@x>", more), village) == .posted)
      let page = try await village.expect(200, .get, "/conversations/\(room)/messages", as: "ada")
      #expect(page["data.0.text"] == "See the plan.")
      #expect(await village.mail().map { $0.subject.contains("without its files") } == [true])
    }
  }

  @Test func `a reply to a deleted message is a message`() async throws {
    try await open { village, _, room, mail in
      let message = try await village.rows("select cast(id as text) from message")[0]
      try await village.expect(200, .delete, "/messages/\(message)", as: "ada")
      #expect(try await receive(try reply(mail), village) == .posted)
      let page = try await village.expect(200, .get, "/conversations/\(room)/messages", as: "ada")
      #expect(page["data.0.text"] == "Thursday." && page.isNull("data.0.reply_to"))
    }
  }

  @Test func `a limit of posts leaves the mail with the mail server`() async throws {
    try await open { village, _, _, mail in
      let reply = try reply(mail)
      await #expect(throws: Refusal.rateLimited(seconds: 5)) {
        try await village.community.receiveMail(reply, over: village.mailDeliverer.service) { _ throws(Refusal) in
          throw .rateLimited(seconds: 5)
        }
      }
      #expect(await village.mail().isEmpty)
      #expect(try await receive(reply, village) == .posted)
    }
  }

  // MARK: Bounces

  private func bounce(_ mail: MailMessage, _ status: String = "5.1.1", action: String = "failed") throws -> IncomingMail
  {
    guard case .address(let path) = mail.returnPath else {
      Issue.record("the mail has no envelope sender of its own")
      return try IncomingMail([])
    }
    let text = """
      Return-Path: <>\r
      To: \(path)\r
      Content-Type: multipart/report; report-type=delivery-status; boundary=b\r
      \r
      --b\r
      Content-Type: message/delivery-status\r
      \r
      Reporting-MTA: dns; mx.example.org\r
      \r
      Action: \(action)\r
      Status: \(status)\r
      --b--\r

      """
    return try IncomingMail(Array(text.utf8))
  }

  /// The mail about another token, whose notice is sent at once.
  private func nextMail(_ village: Village, _ name: String = "app") async throws -> MailMessage {
    try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": name, "scope": "write"])
    return try #require(await village.mail().first)
  }

  private func isStopped(_ village: Village) async throws -> Bool {
    try await !village.expect(200, .get, "/me/email", as: "grace").isNull("stopped_at")
  }

  @Test func `three mails that came back within a week stop mail to an address`() async throws {
    try await open { village, clock, _, mail in
      // The same report counts once.
      for _ in 0..<5 { #expect(try await receive(try bounce(mail), village) == .bounced) }
      #expect(try await receive(try bounce(try await nextMail(village, "a")), village) == .bounced)
      #expect(try await !isStopped(village))
      let events = try await village.events {
        let receipt = try await receive(try bounce(try await nextMail(village, "b")), village)
        #expect(receipt == .bounced)
      }
      #expect(events.contains { $0.hasPrefix("preferences.updated user:\(village.id("grace"))") })
      #expect(try await isStopped(village))
      #expect(try await village.community.store.measure().stoppedEmails == 1)
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "c", "scope": "write"])
      #expect(await village.mail().isEmpty)
      // Confirmed again, the address begins anew.
      try await village.prove("grace")
      try await village.confirmEmail("grace@example.org", of: "grace")
      #expect(try await !isStopped(village))
      #expect(try await receive(try bounce(try await nextMail(village, "d")), village) == .bounced)
      #expect(try await !isStopped(village))
    }
  }

  @Test func `mails that came back more than a week ago do not count`() async throws {
    try await open { village, clock, _, mail in
      let first = try bounce(mail)
      #expect(try await receive(first, village) == .bounced)
      #expect(try await receive(try bounce(try await nextMail(village, "a")), village) == .bounced)
      clock.add(7 * Self.day)
      #expect(try await receive(try bounce(try await nextMail(village, "b")), village) == .bounced)
      #expect(try await !isStopped(village))
      await Housekeeping(village.community.store).tick()
      #expect(try await village.rows("select cast(count(*) as text) from mail_bounce") == ["1"])
    }
  }

  @Test(arguments: [("5.7.1", "failed"), ("4.4.1", "failed"), ("5.1.1", "delayed")])
  func `a report that does not blame the address says nothing`(status: String, action: String) async throws {
    try await open { village, _, _, mail in
      let report = try bounce(mail, status, action: action)
      #expect(try await receive(report, village) == .ignored)
      #expect(try await village.rows("select cast(count(*) as text) from mail_bounce") == ["0"])
    }
  }

  @Test func `an old report, and one on an earlier address, say nothing`() async throws {
    try await open { village, clock, _, mail in
      let report = try bounce(mail)
      try await village.prove("grace")
      try await village.confirmEmail("other@example.org", of: "grace")
      #expect(try await receive(report, village) == .ignored)
      let later = try bounce(try await nextMail(village))
      clock.add(11 * Self.day)
      #expect(try await receive(later, village) == .ignored)
    }
  }

  @Test func `bounces go with the user`() async throws {
    try await open { village, _, _, mail in
      #expect(try await receive(try bounce(mail), village) == .bounced)
      let reply = try reply(mail)
      try await village.request(.delete, "/me", as: "grace", ["how": "leave", "password": "grace’s password"])
      await village.community.store.jobs.run()
      #expect(try await village.rows("select cast(count(*) as text) from mail_bounce") == ["0"])
      #expect(try await receive(reply, village) == .ignored)
    }
  }
}
