import Mail
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Mails of notices about the account and for the staff.
@Suite struct NoticeMailTests {
  /// Grace is an admin with an address.
  private func open(_ body: (Village, StoppedClock) async throws -> Void) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["role": "admin", "end_sessions": false])
      try await village.confirmEmail("grace@example.org", of: "grace")
      // The first device of a user is not a new one.
      try await village.signIn("grace", "grace’s password", on: "laptop")
      clock.add(Int(MailDeliverer.unreadDelay))
      _ = await village.mail()
      try await body(village, clock)
    }
  }

  private func notify(
    _ kind: Notification.Kind, by actor: String?, alert: String? = nil, _ village: Village, _ clock: StoppedClock
  ) async throws -> MailMessage {
    let (grace, actor) = (village.user("grace"), actor.map { village.user($0) })
    try await village.community.store.write { tx throws(Refusal) in
      try tx.addNotification(kind, of: grace, alert: alert, by: actor)
    }
    clock.add(Int(MailDeliverer.unreadDelay))
    let sent = await village.mail()
    #expect(sent.count == 1)
    return try #require(sent.first)
  }

  @Test(
    arguments: [
      (.report, "linus", "Review reports", "/admin/reports"), (.warning, "ada", "Open ", "/"),
      (.token, "grace", "See your tokens", "/you/tokens"),
      (.secondFactorEnabled, "grace", "See two-step sign-in", "/you/twostep"),
      (.secondFactorDisabled, "grace", "See two-step sign-in", "/you/twostep"),
      (.recoveryCodesCreated, "grace", "See two-step sign-in", "/you/twostep"),
      (.recoveryCodeUsed, "grace", "See two-step sign-in", "/you/twostep"),
      (.signIn, "grace", "This wasn't me", "/you/signins"),
      (.endpointDisabled, nil, "See webhooks", "/admin/endpoints"),
      (.passkeyCreated, "grace", "See your passkeys", "/you/passkeys"),
      (.passkeyDeleted, "grace", "See your passkeys", "/you/passkeys"),
      (.passkeyCopied, nil, "See your passkeys", "/you/passkeys"),
      (.identityLinked, "grace", "See linked accounts", "/you/accounts"),
      (.identityUnlinked, "grace", "See linked accounts", "/you/accounts"),
      (.alert, nil, "Open administration", "/admin"),
    ] as [(Notification.Kind, String?, String, String)])
  func `the button of a notice names the page that it opens`(
    kind: Notification.Kind, actor: String?, label: String, path: String
  ) async throws {
    try await open { village, clock in
      let mail = try await notify(kind, by: actor, alert: kind == .alert ? "disk" : nil, village, clock)
      let lines = mail.text.split(separator: "\n")
      let button = try #require(lines.firstIndex { $0.hasPrefix(label) && $0.hasSuffix(":") })
      #expect(lines[button + 1] == "https://example.org\(path)")
      #expect(!mail.text.contains("Open conversation") && mail.html?.contains("Open conversation") == false)
    }
  }

  @Test(
    arguments: [
      (.secondFactorDisabled, "grace", nil, "You turned off two-step sign-in. Not you? Change your password."),
      (.secondFactorDisabled, "ada", nil, "ada turned off your two-step sign-in"),
      (.report, "linus", nil, "linus reported a message"), (.report, nil, nil, "There is a new report to review"),
      (.alert, nil, "disk", "The disk of the server is almost full."),
      (.alert, nil, "unheard_of", "The server needs attention."),
    ] as [(Notification.Kind, String?, String?, String)])
  func `a notice says who did it`(
    kind: Notification.Kind, actor: String?, alert: String?, sentence: String
  ) async throws {
    try await open { village, clock in
      let mail = try await notify(kind, by: actor, alert: alert, village, clock)
      #expect(mail.subject == sentence)
    }
  }

  @Test func `a mail of a sign-in has its device, time and network`() async throws {
    try await open { village, clock in
      let zone = ["time_zone": "Asia/Tokyo"]
      for (device, change, time) in [
        ("stolen <phone>", nil, "(UTC)"), ("tablet", zone, "(Asia/Tokyo)"),
      ] as [(String, [String: String]?, String)] {
        if let change { try await village.expect(200, .patch, "/me/notifications", as: "grace", change) }
        let opened = try await village.signIn("grace", "grace’s password", on: device)
        let mail = try #require(await village.mail().first)
        #expect(mail.subject == "New sign-in to your account")
        #expect(mail.text.contains("Device: \(device)\n") && mail.text.contains("Network: 192.0.2.0/24\n"))
        let line = try #require(mail.text.split(separator: "\n").first { $0.hasPrefix("Time: ") })
        #expect(line.hasSuffix(time))
        #expect(mail.html?.contains("<phone>") == false)
        let session = try #require(opened["id"])
        #expect(mail.text.contains("This wasn't me:\nhttps://example.org/you/signins?session=\(session)\n"))
        // The next device is another one, a moment later.
        clock.add(60_000)
      }
    }
  }

  @Test func `the time of a sign-in is that of the user's zone`() async throws {
    try await open { village, clock in
      // 2027-03-28 01:30 in UTC is 03:30 in Berlin, where the clock has just changed.
      clock.add(1_806_197_400_000 - Int(clock.read()))
      try await village.renewSession(of: "grace")
      _ = await village.mail()
      try await village.expect(200, .patch, "/me/notifications", as: "grace", ["time_zone": "Europe/Berlin"])
      try await village.signIn("grace", "grace’s password", on: "phone")
      let mail = try #require(await village.mail().first)
      #expect(mail.text.contains("Time: 28 Mar 2027, 03:30 (Europe/Berlin)\n"))
    }
  }
}
