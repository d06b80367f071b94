import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit

@Test func `what the server answers has types`() async throws {
  try await Harbour.open { harbour in
    let garden = try await harbour.group("ada", "grace")
    let (ada, grace) = (try harbour.client("ada"), try harbour.client("grace"))
    let said = try await ada.send(.post(in: garden, "pizza in the garden"))
    let marked = try await grace.send(.markRead(garden, upTo: said.message.id))
    #expect(marked.mark.readSeq == said.message.seq && marked.unread == 0)
    let receipts = try await ada.send(.receipts(of: said.message.id)).elements
    #expect(receipts.map(\.isRead) == [true])
    _ = try await grace.send(said.act("like"))
    #expect(try await ada.send(.actions(on: said.message.id)).elements.map(\.type) == ["like"])
    _ = try await ada.send(said.edit("pizza in the orchard"))
    let revisions = try await ada.send(.revisions(of: said.message.id)).elements
    #expect(revisions.map(\.text) == ["pizza in the garden"])
    let found = try #require(try await grace.send(.search(q: "orchard")).elements.first)
    #expect(found.message.message.id == said.message.id)
    #expect(found.pieces.filter(\.isHit).map(\.text) == ["orchard"] && !found.isCutBefore)
    #expect(try await grace.send(.conversation(garden)).title == "garden")
    #expect(try await grace.send(.setLevel(of: garden, to: .nothing)).level == .nothing)
    #expect(try await grace.send(.clearLevel(of: garden)).isOwn == false)
    _ = try await ada.send(.post(in: garden, "@grace come"))
    let unread = try await grace.send(.unread()).elements
    #expect(unread.map(\.conversation) == [garden] && unread.map(\.mentions) == [1])
    let inbox = try await grace.send(.inbox())
    #expect(inbox.unread.counts[.mention] == 1)
    #expect(inbox.entries.contains { $0.message?.message.content?.text == "@grace come" })
    let token = try await grace.send(.makeToken(name: "script", scope: .read))
    #expect(token.wayIn.name == "script" && token.wayIn.scope == .read && token.token != nil)
    #expect(try await grace.send(.tokens()).elements.map(\.id) == [token.wayIn.id])
    #expect(try await grace.send(.sessions()).elements.contains { $0.isCurrent })
    let file = try await ada.upload(FileSource(name: "a.bin", bytes: [1, 2, 3]))
    #expect(try await ada.send(.linkFile(file.id)).path.contains("/files/\(file.id)/content?link="))
    let room = try await harbour.room()
    let start = try await ada.send(.post(in: room, "a subject"))
    let topic = try await ada.send(.makeTopic(of: start.message.id, title: "a subject"))
    #expect(try await ada.send(.conversation(topic.topic)).kind == .topic)
  }
}

@Test func `what those ask for who keep order has types`() async throws {
  try await Harbour.open { harbour in
    let (ada, grace) = (try harbour.client("ada"), try harbour.client("grace"))
    let room = try await harbour.room()
    let said = try await grace.send(.post(in: room, "buy now"))
    let linus = try harbour.client("linus")
    let told = try await linus.send(.report(.message(said.message.id), reason: "Advertising."))
    #expect(told.message == said.message.id && told.reason == "Advertising." && told.state == .open)
    let waiting = try await ada.send(.reports()).elements
    #expect(waiting.map(\.id) == [told.id] && waiting.first?.copy != nil)
    let judged = try await ada.send(.judge(told.id, state: .acted))
    #expect(judged.state == .acted && judged.handledAt != nil && judged.revision == 2)
    #expect(try await ada.send(.report(told.id)).value.state == .acted)

    let warning = try await ada.send(.warn(.name("grace"), reason: "Be kind."))
    #expect(warning.kind == .warning && warning.reason == "Be kind." && warning.until == nil)
    let silence = try await ada.send(.silence(.name("grace"), until: Timestamp(1_900_000_000_000)))
    #expect(silence.kind == .silence && silence.until == 1_900_000_000_000)
    #expect(try await ada.send(.sanctions(of: .name("grace"))).elements.map(\.kind) == [.silence, .warning])
    try await ada.send(.endSilence(of: .name("grace")))

    let since = Timestamp(1_700_000_000_000)
    let removal = try await ada.send(.removeMany(by: .person(.name("grace")), since: since))
    #expect(removal.since == 1_700_000_000_000)
    try await wait { try await ada.send(.removal(removal.id)).finishedAt != nil }
    #expect(try await ada.send(.removal(removal.id)).removedCount == 1)
    #expect(try await ada.send(.undoRemoval(removal.id)).undoneBy == harbour.id("ada"))

    let done = try await ada.send(.audit()).elements
    #expect(done.compactMap(\.kind).contains(.personWarned) && done.allSatisfy { $0.kind != nil })
    let statistics = try await ada.send(.statistics())
    #expect(statistics.people == 3 && statistics.openReports == 0 && statistics.lastBackup == nil)
    let backup = try await ada.send(.makeBackup())
    try await wait { try await ada.send(.backups()).elements.first?.state == .done }
    #expect(try await ada.send(.backups()).elements.map(\.id) == [backup.id])
    #expect(try await ada.send(.statistics()).lastBackup != nil)
  }
}

@Test func `what a newer server has done is told by its word`() throws {
  let text = #"""
    {"id":"7","at":"2026-11-22T12:00:00.000Z","actor_id":"1","kind":"forum.painted","subject_id":null,"forum_id":"9",
    "reason":null}
    """#
  let line = try AuditLine(json: JSONValue(parsing: Array(text.utf8)))
  #expect(line.kind == nil && line.word == "forum.painted" && line.subject == nil && line.forum == ID(9))
}

@Test func `ways in, and ways back, have types`() async throws {
  try await Harbour.open { harbour in
    let (ada, nobody) = (try harbour.client("ada"), try harbour.client())
    let invite = try await ada.send(.makeInvite(maxUses: 2))
    #expect(invite.mostUses == 2 && invite.uses == 0 && invite.role == .member)
    #expect(try await ada.send(.invites()).elements.map(\.code) == [invite.code])
    guard case .whole(let whole) = try await ada.send(.invite(invite.code)).value else {
      Issue.record("its maker sees a part of it")
      return
    }
    #expect(whole.id == invite.id && whole.usedBy == [])
    guard case .welcome(let welcome) = try await nobody.send(.invite(invite.code)).value else {
      Issue.record("everyone sees all of it")
      return
    }
    #expect(welcome.inviter.name == "ada" && welcome.forum == nil)
    let link = try await ada.send(.makeResetLink(.name("grace")))
    #expect(link.address.hasSuffix("/reset/\(link.code)"))
    let purpose = try await nobody.send(.link(link.code))
    #expect(purpose.kind == .reset && purpose.account?.name == "grace" && purpose.expiresAt != nil)
  }
}

@Test func `conversations, and what happens in them, have types`() async throws {
  try await Harbour.open { harbour in
    let garden = try await harbour.group("ada", "grace")
    let (ada, grace) = (try harbour.client("ada"), try harbour.client("grace"))
    let start = try await ada.send(.sync(topics: "me")).value
    #expect(start.events.isEmpty && start.reset == nil && start.lost.isEmpty)
    let said = try await grace.send(.post(in: garden, "@ada look"))
    let page = try await ada.send(.sync(topics: "me", after: start.cursor.description))
    #expect(page.events.contains { $0.kind == .messageCreated } && page.cursor.event > start.cursor.event)
    let stream = try await ada.send(.events(of: EventStream.conversation(garden).description, limit: 1))
    #expect(stream.events.map(\.offset) == [1] && stream.hasMore && stream.lastOffset > 1)
    let digest = try await ada.send(.digest(of: garden))
    #expect(digest.parts.last?.seqs.upperBound == said.message.seq && digest.lastEvent >= page.cursor.event)
    let entry = try #require(try await ada.send(.inbox()).entries.first)
    let left = try await ada.send(.markInboxRead(upTo: entry.entry.id))
    #expect(left.unread.counts[.mention] ?? 0 == 0)

    guard
      case .own(let own) = try await ada.send(.changeConversation(garden, ConversationChange(title: .set("orchard"))))
        .value
    else {
      Issue.record("a group is no topic")
      return
    }
    #expect(own.conversation.title == "orchard")
    let room = try await harbour.room()
    let forum = try #require(try await ada.send(.conversation(room)).forum)
    let topic = try await ada.send(.createTopic(in: forum, title: "roses"))
    guard
      case .topic(let changed) = try await ada.send(.changeTopic(topic.id, TopicChange(isLocked: true))).value
    else {
      Issue.record("a topic is told as a conversation")
      return
    }
    #expect(changed.isLocked && changed.title == "roses")
    let begun = try await ada.send(.deleteForum(forum))
    try await wait { try await ada.send(.job(begun.job)).state == .finished }
  }
}

@Test func `what stands behind a link has a type`() throws {
  let text = #"""
    {"url":"https://example.org/","title":"Example","description":null,"site_name":null,"image":false,
    "picture":{"mime_type":"image/png","size":9,"width":2,"height":3,"url":"/api/v1/previews/k/picture"},"file":null}
    """#
  let page = try LinkedPage(json: JSONValue(parsing: Array(text.utf8)))
  #expect(page.address == "https://example.org/" && page.title == "Example" && page.about == nil)
  #expect(page.picture?.path == "/api/v1/previews/k/picture" && page.picture?.height == 3 && page.file == nil)
}
