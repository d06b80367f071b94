import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit

@Test func `responses decode into types`() async throws {
  try await SocketSite.open { site in
    let garden = try await site.group("ada", "grace")
    let (ada, grace) = (try site.client("ada"), try site.client("grace"))
    let posted = try await ada.send(.postMessage(in: garden, "pizza in the garden"))
    let marked = try await grace.send(.markRead(garden, upTo: posted.message.id))
    #expect(marked.readPosition.readSeq == posted.message.seq && marked.unread == 0)
    let receipts = try await ada.send(.listReceipts(of: posted.message.id)).elements
    #expect(receipts.map(\.isRead) == [true])
    _ = try await grace.send(posted.setAction(.like))
    #expect(try await ada.send(.listActions(on: posted.message.id)).elements.map(\.type) == ["like"])
    _ = try await ada.send(posted.edit("pizza in the orchard"))
    let revisions = try await ada.send(.listRevisions(of: posted.message.id)).elements
    #expect(revisions.map(\.text) == ["pizza in the garden"])
    let found = try #require(try await grace.send(.searchMessages(q: "orchard")).elements.first)
    #expect(found.message?.message.id == posted.message.id && found.conversation == garden && found.title == nil)
    #expect(found.forum == nil)
    #expect(found.pieces.filter(\.isHit).map(\.text) == ["orchard"] && !found.isCutBefore)
    #expect(try await grace.send(.getConversation(garden)).title == "garden")
    #expect(try await grace.send(.setConversationLevel(of: garden, to: .nothing)).level == .nothing)
    #expect(try await grace.send(.resetConversationLevel(of: garden)).isOwn == false)
    _ = try await ada.send(.postMessage(in: garden, "@grace come"))
    let unread = try await grace.send(.getUnread()).elements
    #expect(unread.map(\.conversation) == [garden] && unread.map(\.mentions) == [1])
    #expect(unread.map { $0.message?.message.content?.text } == ["@grace come"])
    let inbox = try await grace.send(.listNotifications())
    #expect(inbox.unread.counts[.mention] == 1)
    #expect(inbox.entries.contains { $0.message?.message.content?.text == "@grace come" })
    let token = try await grace.send(.createToken(name: "script", scope: .read))
    #expect(token.credential.name == "script" && token.credential.scope == .read && token.token != nil)
    try await grace.send(.markAllRead(upTo: ID(Int(Int32.max))))
    #expect(try await grace.send(.getUnread()).elements.isEmpty)
    #expect(try await grace.send(.listTokens()).elements.map(\.id) == [token.credential.id])
    #expect(token.credential.limits.areNone)
    #expect(try await grace.send(.listSessions()).elements.contains { $0.isCurrent })
    let made = try await ada.send(.createBot(name: "dice", forums: [], scope: .write))
    #expect(made.user.summary.role == .bot && made.user.standing?.owner != nil && made.token != nil)
    let bot = try #require(try await ada.send(.listBots()).elements.last)
    #expect(bot.user.summary.id == made.user.summary.id && bot.tokenCount == 1 && bot.lastUsedAt == nil)
    let file = try await ada.upload(FileSource(name: "a.bin", bytes: [1, 2, 3]))
    #expect(try await ada.send(.createFileLink(file.id)).path.contains("/files/\(file.id)/content?link="))
    let room = try await site.room()
    let start = try await ada.send(.postMessage(in: room, "a subject"))
    let topic = try await ada.send(.createTopicFromMessage(of: start.message.id, title: "a subject"))
    #expect(try await ada.send(.getConversation(topic.topic)).kind == .topic)
    let subjects = try await grace.send(.searchMessages(q: "subject", kind: .topic, counts: true))
    #expect(subjects.elements.map(\.title) == ["a subject"])
    #expect(subjects.counts == SearchCounts(topics: 1, messages: 0) && found.title == nil)
    let forum = try #require(try await ada.send(.listForums()).elements.first?.value.forum.id)
    #expect(try await ada.send(.listForums(sharedWith: .name("grace"))).elements.isEmpty)
    let tagged = try await ada.send(.createTopic(in: forum, title: "Garlic", text: "When? #Garlic #autumn"))
    #expect(tagged.tags == ["garlic", "autumn"])
    #expect(try await ada.send(.listTopics(in: forum, tag: "#garlic")).elements.map(\.tags) == [tagged.tags])
    #expect(try await ada.send(.listTopics(in: forum, query: "GARL")).elements.map(\.id) == [tagged.id])
    try await ada.send(.postMessage(in: room, "an answer", replyTo: start.message.id))
    let counts = try await ada.send(.listReplyCounts(of: [start.message.id])).elements.map(\.value)
    #expect(counts == [ReplyCount(start.message.id, count: 1)])
    let included = try await ada.send(.listTopics(in: forum, query: "garlic").including()).included
    #expect(included?.user(tagged.createdBy)?.summary.name == "ada" && included?.files.isEmpty == true)
    let single = try await ada.send(.getMessage(start.message.id).including(.users))
    #expect(single.included?.users.map(\.summary.name) == ["ada"] && single.message.id == start.message.id)
    #expect(try await ada.send(.getMessage(start.message.id)).included == nil)
    let feed = try await ada.send(.createConversation(.feed)).conversation.id
    let post = try await ada.send(.postMessage(in: feed, "My first socks are done."))
    let reposted = try await grace.send(.setAction(on: post.message.id, type: .repost))
    #expect(reposted.mine == ["repost"] && reposted.message.id == post.message.id)
    let timeline = try await grace.send(.getTimeline().including())
    #expect(timeline.elements.map { $0.message.content?.repostOf } == [post.message.id])
    #expect(timeline.included?.message(post.message.id)?.message.content?.text == "My first socks are done.")
    try await grace.send(.removeAction(on: post.message.id, type: .repost))
    #expect(try await grace.send(.getTimeline()).elements.isEmpty)
    let mention = try await ada.send(.postMessage(in: feed, "New yarn, @grace."))
    #expect(try await grace.send(.getTimeline(mentions: true)).elements.map(\.message.id) == [mention.message.id])
    let filter = try await grace.send(
      .setTimelineFilter("no yarn", to: TimelineFilterDraft(exclude: .init(words: ["yarn"]))))
    #expect(filter.value.exclude.words == ["yarn"] && filter.value.include.isEmpty)
    #expect(try await grace.send(.listTimelineFilters()).elements.map(\.value) == [filter.value])
    #expect(try await grace.send(.getTimeline(mentions: true, filter: "no yarn")).elements.isEmpty)
    #expect(try await grace.send(.getTimelinePosition(mentions: true)).value.unread == 1)
    #expect(try await grace.send(.getTimelinePosition(mentions: true, filter: "no yarn")).value.unread == 0)
    #expect(try await grace.send(.markTimelineRead(upTo: mention.message.id)).message == mention.message.id)
    #expect(try await grace.send(.getTimelinePosition(mentions: true)).value.unread == 0)
    try await grace.send(.deleteTimelineFilter("no yarn"))
    try await grace.send(.deleteTimelineFilters())
    try await grace.send(.setAction(on: mention.message.id, type: .star))
    await #expect(throws: ClientFault.self) { try await ada.send(.listStars(of: .name("grace"))) }
    try await grace.send(.updateUser(.me, UserChange(own: [.set(\.showsStars, true)])))
    #expect(try await ada.send(.listStars(of: .name("grace"))).elements.map(\.message.id) == [mention.message.id])
    let access = try await ada.send(.listForumAccess(of: .visitor)).elements.map(\.value)
    #expect(access.map(\.forum).contains(forum) && access.allSatisfy { !$0.operations.contains(.write) })
    let tags = try await ada.send(.listForumTags(of: forum)).elements.map(\.value)
    #expect(tags == [ForumTag("autumn", count: 1), ForumTag("garlic", count: 1)])
  }
}

@Test func `moderation responses decode into types`() async throws {
  try await SocketSite.open { site in
    let (ada, grace) = (try site.client("ada"), try site.client("grace"))
    let room = try await site.room()
    let posted = try await grace.send(.postMessage(in: room, "buy now"))
    let linus = try site.client("linus")
    let report = try await linus.send(.createReport(.message(posted.message.id), reason: "Advertising."))
    #expect(report.message == posted.message.id && report.reason == "Advertising." && report.state == .open)
    let waiting = try await ada.send(.listReports()).elements
    #expect(waiting.map(\.id) == [report.id] && waiting.first?.copy != nil)
    let group = try #require(try await ada.send(.listReports(group: .user)).elements.first?.group)
    #expect(group.reportCount == 1 && group.subjects.map(\.report.id) == [report.id])
    #expect(group.subjects.first?.report.surroundings != nil)
    let closed = try await ada.send(.updateReports(about: .name("grace"), state: .dismissed))
    #expect(closed.reportCount == 1)
    let handledAt = try #require(closed.handledAt.map { Timestamp($0) })
    let opened = try await ada.send(.updateReports(about: .name("grace"), state: .open, handledAt: handledAt))
    #expect(opened.reportCount == 1 && opened.handledAt == nil)
    let judged = try await ada.send(.updateReport(report.id, state: .acted))
    #expect(judged.state == .acted && judged.handledAt != nil && judged.revision == 4)
    #expect(try await ada.send(.getReport(report.id)).value.state == .acted)

    let warning = try await ada.send(.warnUser(.name("grace"), reason: "Be kind."))
    #expect(warning.kind == .warning && warning.reason == "Be kind." && warning.until == nil)
    let silence = try await ada.send(.silenceUser(.name("grace"), until: Timestamp(1_900_000_000_000)))
    #expect(silence.kind == .silence && silence.until == 1_900_000_000_000)
    #expect(try await ada.send(.listSanctions(of: .name("grace"))).elements.map(\.kind) == [.silence, .warning])
    try await ada.send(.unsilenceUser(of: .name("grace")))

    let since = Timestamp(1_700_000_000_000)
    let removal = try await ada.send(.createRemoval(by: .user(.name("grace")), since: since))
    #expect(removal.since == 1_700_000_000_000)
    try await wait { try await ada.send(.getRemoval(removal.id)).finishedAt != nil }
    #expect(try await ada.send(.getRemoval(removal.id)).removedCount == 1)
    #expect(try await ada.send(.undoRemoval(removal.id)).undoneBy == site.id("ada"))

    let destruction = try await ada.send(.destroyContent(.user(.name("grace")), reason: "A letter."))
    #expect(destruction.isPurged && destruction.copies == [])

    _ = try await ada.send(.updateSettings(SiteSettingsChange([.set(\.hue, 7)])))
    let done = try await ada.send(.listAuditEntries()).elements
    #expect(done.first?.changes.map(\.field) == ["hue"] && done.first?.changes.first?.to == JSONRaw(trusted: [0x37]))
    #expect(done.compactMap(\.kind).contains(.userWarned) && done.allSatisfy { $0.kind != nil })
    let statistics = try await ada.send(.getStatistics())
    #expect(statistics.users == 2 && statistics.openReports == 0 && statistics.lastBackup == nil)
    let backup = try await ada.send(.createBackup())
    try await wait { try await ada.send(.listBackups()).elements.first?.state == .done }
    #expect(try await ada.send(.listBackups()).elements.map(\.id) == [backup.id])
    #expect(try await ada.send(.getStatistics()).lastBackup != nil)
    let export = try await ada.send(.createExport())
    try await wait { try await ada.send(.getExport()).state == .done }
    #expect(try await ada.send(.getExport()).id == export.id)
    #expect(try await ada.send(.getExportContent()).body.starts(with: Array("PK".utf8)))
    try await ada.send(.deleteExport())
  }
}

@Test func `unknown values of a newer server keep their raw value`() throws {
  let text = #"""
    {"id":"7","at":"2026-11-22T12:00:00.000Z","actor_id":"1","kind":"forum.painted","subject_id":null,"forum_id":"9",
    "reason":null}
    """#
  let line = try AuditRecord(json: JSONValue(parsing: Array(text.utf8)))
  #expect(line.kind == nil && line.kindName == "forum.painted" && line.subject == nil && line.forum == ID(9))
}

@Test func `sign-in, invite and recovery responses decode into types`() async throws {
  try await SocketSite.open { site in
    let (ada, nobody) = (try site.client("ada"), try site.client())
    let created = try await ada.send(.createInvite(maxUses: 2)).value
    let (invite, code) = (created.invite, try #require(created.code))
    #expect(invite.maxUses == 2 && invite.uses == 0 && invite.role == .member)
    #expect(try await ada.send(.listInvites()).elements.map(\.id) == [invite.id])
    #expect(try await ada.send(.getInvite(invite.id)).usedBy == [])
    let welcome = try await nobody.send(.getLink(code))
    #expect(welcome.kind == .invite && welcome.invite?.inviter.name == "ada" && welcome.invite?.forum == nil)
    let earlier = try await ada.send(.createPasswordReset(.name("grace")))
    #expect(earlier.address.hasSuffix("/reset/\(earlier.code)"))
    #expect(try await ada.send(.listUserIdentities(of: .name("grace"))).elements.isEmpty)
    let recovery = try await ada.send(.recoverUser(.name("grace")))
    let link = try #require(recovery.link)
    let purpose = try await nobody.send(.getLink(link.code))
    #expect(purpose.kind == .reset && purpose.user?.name == "grace" && purpose.expiresAt != nil)
  }
}

@Test func `conversations and their events decode into types`() async throws {
  try await SocketSite.open { site in
    let garden = try await site.group("ada", "grace")
    let (ada, grace) = (try site.client("ada"), try site.client("grace"))
    let start = try await ada.send(.sync(topics: [.me])).value
    #expect(start.events.isEmpty && start.reset == nil && start.lost.isEmpty)
    let posted = try await grace.send(.postMessage(in: garden, "@ada look"))
    let page = try await ada.send(.sync(topics: [.me], after: start.cursor.description))
    #expect(page.events.contains { $0.kind == .messageCreated } && page.cursor.event > start.cursor.event)
    let stream = try await ada.send(.listStreamEvents(of: EventStream.conversation(garden).description, limit: 1))
    #expect(stream.events.map(\.offset) == [1] && stream.next != nil && stream.previous == nil && stream.lastOffset > 1)
    let digest = try await ada.send(.getDigest(of: garden))
    #expect(digest.parts.last?.seqs.upperBound == posted.message.seq && digest.lastEvent >= page.cursor.event)
    let checkpoint = try await ada.send(.getCheckpoint(of: garden)).value
    #expect(checkpoint.conversation == garden && checkpoint.position > 0 && checkpoint.key.utf8.count == 64)
    let entry = try #require(try await ada.send(.listNotifications()).entries.first)
    let left = try await ada.send(.markNotificationsRead(upTo: entry.entry.id))
    #expect(left.unread.counts[.mention] ?? 0 == 0)

    let renamed = ConversationChange([.set(\.title, "orchard")])
    guard case .own(let own) = try await ada.send(.updateConversation(garden, renamed)).value else {
      Issue.record("a group is no topic")
      return
    }
    #expect(own.conversation.title == "orchard")
    let room = try await site.room()
    let forum = try #require(try await ada.send(.getConversation(room)).forum)
    let topic = try await ada.send(.createTopic(in: forum, title: "roses"))
    guard
      case .topic(let changed) = try await ada.send(
        .updateConversation(topic.id, TopicChange([.set(\.isLocked, true)]))
      ).value
    else {
      Issue.record("a topic is told as a conversation")
      return
    }
    #expect(changed.isLocked && changed.title == "roses")
    let started = try await ada.send(.deleteForum(forum))
    try await wait { try await ada.send(.getJob(started.job)).state == .finished }
  }
}

@Test func `a link preview decodes into its type`() throws {
  let text = #"""
    {"url":"https://example.org/","title":"Example","description":null,"site_name":null,"image":false,
    "picture":{"mime_type":"image/png","size":9,"width":2,"height":3,"url":"/api/v1/previews/k/picture"},"file":null}
    """#
  let page = try LinkedPage(json: JSONValue(parsing: Array(text.utf8)))
  #expect(page.address == "https://example.org/" && page.title == "Example" && page.about == nil)
  #expect(page.picture?.path == "/api/v1/previews/k/picture" && page.picture?.height == 3 && page.file == nil)
}
