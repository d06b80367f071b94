import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// No query scans or sorts a table: each finds its rows by an index, in order. The checked queries are those that the
/// calls run, so that no list of them can become stale.
@Suite struct PlanTests {
  /// Allowed parts of a plan, each with its reason.
  private static let allowed = [
    // The sessions that end, as the previous lines found them.
    "SCAN f", "SCAN family",
    // The count of at most a thousand rows that the previous line found.
    "SCAN waiting", "SCAN counted",
    // The first few messages of a user, counted.
    "SCAN said",
    // The kinds of actions on one message, at most fifty.
    "SCAN public",
    // Bound rows, also as a list in JSON.
    "SCAN 2 CONSTANT ROWS", "SCAN CONSTANT ROW", "SCAN 50 CONSTANT ROWS", "SCAN 200 CONSTANT ROWS", "SCAN w",
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
    // Words of the index, which finds its rows itself, and bound locations.
    "SCAN search VIRTUAL TABLE INDEX 0:=M3",
    "SCAN s VIRTUAL TABLE INDEX 64:M3><", "SCAN s VIRTUAL TABLE INDEX 192:M3><",
    // A partial index of the open jobs, in order.
    "SCAN job USING INDEX job_open",
    // A partial index of the default forums, at a sign-up.
    "SCAN forum USING INDEX forum_default",
    // All settings, with all custom emoji, at most 200, and all groups of users, at most 100.
    "SCAN setting", "SCAN emoji USING COVERING INDEX sqlite_autoindex_emoji_1",
    "SCAN user_group USING COVERING INDEX sqlite_autoindex_user_group_1",
    "SCAN user_group USING INDEX sqlite_autoindex_user_group_1",
    // The messages that wait for devices, counted when some are sent.
    "SCAN push_delivery USING INDEX push_delivery_due", "SCAN push_delivery USING INDEX push_delivery_by_urgency",
    "SCAN mail_delivery USING INDEX mail_delivery_created",
    // A partial index of the addresses without mail, counted for the metrics.
    "SCAN email USING INDEX email_stopped",
    "SCAN password_reset USING COVERING INDEX password_reset_by_time",
    "SCAN password_reset USING COVERING INDEX sqlite_autoindex_password_reset_1",
    // A partial index of the conversations with messages that have no entry in the chain yet.
    "SCAN conversation USING INDEX conversation_unchained",
    // A partial index of unfinished backups, when the store is opened.
    "SCAN backup USING INDEX backup_unfinished",
  ]

  /// Statements that may be slow, each with its reason.
  private static let exceptions = [
    // Two rows, when the store is opened.
    "select name, value from counter",
    // All names, when a store is opened whose index has another version.
    "delete from user_term", "name_key is not null\norder by id",
    // The starts of the server, when the store is opened.
    "from start\norder by ordinal",
    // The participants of one conversation, when its last admin leaves.
    "order by p.role = 'reader', p.joined_at",
    // Sorted: the conversations of one user, the remaining participants of one when its last admin leaves, and as
    // many posts of each followed user, or of each feed, as fit a page, in the background. Keeping them in order would need a row per
    // participant and message.
    "as activity", "order by role = 'reader'", "kind = 'feed'\njoin message",
    "from conversation c\njoin message",
    // Sorted: one user's own stars, which are indexed by message time.
    "and a.user_id = $9\ngroup by a.message_id",
    // The queries of the migrator and its checks when the store is opened.
    "migration", "sqlite_schema", "pragma",
    // The grants of one user, some hundreds, after a new one.
    "from app_grant\nwhere user_id = $1\norder by used_at desc",
    // The users of one branch of invites, when it is revoked.
    "join branch b",
    // Open links, few at a time, when one is made or their maker is recovered.
    "delete from link",
    // The sessions of one user, when there is one more than their bound.
    "order by last_used_at desc, id desc",
    // All that waits for devices, after the clock was set back.
    "set due_at = due_at - $1, created_at = min(created_at, $2) where due_at > $2", "set retry_at = retry_at - $1",
    // Mails that wait for one user, about a hundred, when there are more.
    "sent_at is null and user_id = $1",
    // Messages that wait for the devices of one user, about two hundred, when there are more.
    "order by d.urgency, d.created_at, d.id",
    // The forums of the site, some hundreds, when a forum is created.
    "max(position) filter",
  ]

  private static func faults(of statements: [String], _ connection: Connection) throws -> [String] {
    try statements.flatMap { statement -> [String] in
      if exceptions.contains(where: { statement.contains($0) }) { return [] }
      return try connection.plan(of: SQL(statement)).filter { line in
        let isSlow = line.hasPrefix("SCAN") || line.contains("TEMP B-TREE") || line.contains("AUTOMATIC")
        return isSlow && !allowed.contains(line)
      }.map { "\($0): \(statement)" }
    }
  }

  @Test func `every read query finds its rows by an index`() throws {
    let database = try RawDatabase()
    let ids = try (0..<5).map { try database.post("message \($0)") }
    try database.mute(RawDatabase.grace, by: RawDatabase.ada)
    let reader = try Connection.reader(database.folder + "/parley.db")
    let tx = ReadTransaction(reader, now: 1_800_000_000_000)
    for window in [
      MessageQuery.Window.all, .between(after: ids[0], before: ids[4]), .betweenTimes(after: 0, before: 1),
      .around(ids[2]), .aroundTime(1), .older(than: 3, in: nil), .newer(than: 3, in: 1..<5),
    ] {
      for filter in 0..<8 {
        var query = MessageQuery(RawDatabase.room, window, order: .ascending, limit: 3)
        query.includesDeleted = filter & 1 == 0
        query.includesMachineOnly = filter & 2 == 0
        query.viewer = filter & 4 == 0 ? nil : RawDatabase.ada
        _ = try tx.messages(query)
        query.order = .descending
        _ = try tx.messages(query)
      }
    }
    for count in [1, 50, 200] { _ = try tx.messages((1...count).map { ids[$0 % 5] }) }
    for count in [1, 50, 200] {
      let some = (1...count).map { ids[$0 % 5] }
      _ = try (tx.actions(of: RawDatabase.ada, on: some), tx.votes(of: RawDatabase.ada, in: some))
      _ = try tx.polls(of: some.map(\.number))
    }
    _ = try tx.actionCounts(of: ids[0], RawDatabase.ada)
    if let like = ActionType("like") { _ = try tx.hasAction(like, ids[0]) }
    _ = try tx.position(of: ids[0])
    _ = try tx.chainState(of: RawDatabase.room)
    _ = try tx.showsRevisions(RawDatabase.room)
    _ = try tx.forum(of: RawDatabase.room)
    for count in [1, 50, 200] { _ = try tx.branch(of: ids[0], max: count) }
    _ = try tx.movedPosition(of: ids[0])
    _ = try tx.readingParticipants(of: [RawDatabase.room], max: 50)
    _ = try tx.user(called: "ada")
    _ = try tx.users(named: ["ada"])
    for count in [1, 50, 200] { _ = try tx.users((1...count).map { ID($0) }) }
    for count in [1, 50, 200] { _ = try tx.acquainted((1...count).map { ID($0) }, with: RawDatabase.ada) }
    _ = try tx.owns([ID(1)], RawDatabase.ada)
    _ = try tx.keptFile(ID(1))
    _ = try tx.messages(with: ID(1), limit: 3)
    _ = try tx.fileUse(of: RawDatabase.ada)
    _ = try tx.upload(ID(1))
    _ = try tx.openUploads(of: RawDatabase.ada)
    _ = try tx.avatar(of: RawDatabase.ada)
    _ = try tx.isAvatar(ID(1))
    _ = try tx.forums(withIcon: ID(1), limit: 3)
    _ = try tx.activeSession(ID(1))
    _ = try tx.session(withDigest: [1])
    _ = try tx.lacksSecondFactor(RawDatabase.ada)
    _ = try tx.isNewDevice("laptop", from: "192.0.2.0/24", of: RawDatabase.ada)
    _ = try tx.totp(of: RawDatabase.ada)
    _ = try tx.recoveryCodeCount(of: RawDatabase.ada)
    _ = try tx.secondFactorRequiredSince(RawDatabase.ada)
    _ = try tx.provedAt(ID(1))
    _ = try tx.passkeys(of: RawDatabase.ada, ListSlice(limit: 10))
    _ = try tx.passkey(ID(1), of: RawDatabase.ada)
    _ = try tx.passkey(withCredential: [1])
    _ = try tx.passkeyCredentials(of: RawDatabase.ada, for: "chat.example.org")
    _ = try tx.passkeyCount(of: RawDatabase.ada)
    _ = try tx.identities(of: RawDatabase.ada, ListSlice(limit: 10))
    _ = try tx.identity(ID(1), of: RawDatabase.ada)
    _ = try tx.identity(at: "https://id.example.org", subject: "1")
    _ = try tx.identityCount(of: RawDatabase.ada)
    _ = try tx.issuers(of: RawDatabase.ada)
    try database.connection.execute("update forum set slow_seconds = 1")
    try database.connection.execute("update conversation set slow_seconds = 1")
    _ = try tx.wait(of: RawDatabase.ada, in: RawDatabase.room, slowSeconds: 10)
    _ = try tx.unread(of: RawDatabase.ada, in: RawDatabase.room)
    _ = try tx.heads(of: RawDatabase.ada)
    _ = try tx.conversation(RawDatabase.room)
    _ = try tx.conversations([(RawDatabase.room, 1)], of: RawDatabase.ada)
    _ = try tx.conversation(distinct: "direct 1,2")
    _ = try tx.feed(of: RawDatabase.ada)
    _ = try tx.request(of: RawDatabase.ada, in: RawDatabase.room)
    _ = try tx.participantCount(of: RawDatabase.room, upTo: 3)
    _ = try tx.hasAdmin(of: RawDatabase.room, besides: RawDatabase.ada)
    _ = try tx.readPosition(of: RawDatabase.ada, in: RawDatabase.room)
    _ = try tx.level(of: RawDatabase.ada, in: RawDatabase.room)
    _ = try tx.later(of: RawDatabase.ada)
    _ = try tx.notificationCandidate(RawDatabase.ada, from: RawDatabase.grace, in: RawDatabase.room)
    _ = try tx.directCandidate(from: RawDatabase.grace, in: RawDatabase.room)
    _ = try tx.roomMentionRecipients(of: ID(6), by: RawDatabase.grace, in: RawDatabase.room, after: nil, limit: 3)
    _ = try tx.author(of: ids[0])
    _ = try tx.kind(of: RawDatabase.room)
    _ = try tx.acquaintance(of: RawDatabase.ada, with: RawDatabase.grace)
    _ = try tx.firstEvent()
    _ = try tx.offset(in: .conversation(RawDatabase.room), at: 2)
    _ = try tx.events(after: 2, limit: 10)
    _ = try tx.followedConversations(of: RawDatabase.ada)
    _ = try tx.fromOffset(of: RawDatabase.ada, in: RawDatabase.room)
    _ = try tx.forum(ofConversation: RawDatabase.room)
    for count in [1, 50, 200] { _ = try tx.heads(of: (1...count).map { .user(ID($0)) }, movedSince: 0) }
    for count in [1, 50, 200] { try Self.askAboutEvents(count, tx) }
    _ = try tx.digest(of: RawDatabase.room)
    _ = try tx.searchEntry(of: ids[0])
    for anchor in [nil, ids[0]] {
      var search = MessageSearch(try SearchQuery("message"), in: [.conversation(RawDatabase.room)])
      search.after = anchor
      search.isAscending = anchor != nil
      _ = try tx.search(search)
      for kind in SearchKind.allCases {
        search.kind = kind
        _ = try (tx.search(search), tx.searchCounts(of: search))
      }
      search.kind = nil
      search.circle = GeoCircle(latitude: 1, longitude: 1, metres: 1)
      _ = try tx.search(search)
      (search.query, search.circle) = (nil, nil)
      for type in ["like", "star"] {
        search.action = ActionType(type)
        _ = try tx.search(search)
        search.maxExamined = 1
        _ = try tx.search(search)
        search.maxExamined = 20_000
      }
    }
    for count in [1, 50, 200] { _ = try tx.inbox((1...count).map { ID($0) }) }
    _ = try tx.unreadConversationScopes(of: RawDatabase.ada)
    _ = try tx.followedForums(of: RawDatabase.ada)
    _ = try tx.ownForums(of: RawDatabase.ada)
    _ = try tx.followedTopics(in: ID(6), of: RawDatabase.ada)
    _ = try tx.newTopics(in: ID(6), for: RawDatabase.ada)
    _ = try tx.firstUnread(of: RawDatabase.ada, in: RawDatabase.room, after: 0)
    _ = try tx.lastSeq(of: RawDatabase.room, upTo: ID(9))
    _ = try tx.facts(of: Topic(id: ID(7), forum: ID(6), createdBy: RawDatabase.ada, createdAt: 0, lastSeq: 1), from: 1)
    _ = try tx.forumStandings(of: RawDatabase.ada, seeing: [.public])
    _ = try tx.conversationStandings(of: RawDatabase.ada, openTo: [.users])
    _ = try tx.lastMessage(before: 2, in: RawDatabase.room)
    _ = try tx.relationCount(.mute, of: RawDatabase.ada)
    _ = try tx.isBlocked(RawDatabase.ada, RawDatabase.grace)
    _ = try tx.addressKey()
    _ = try tx.addresses(of: RawDatabase.ada)
    _ = try tx.discoverable(at: [1], limit: 10)
    let forum = ID<Forum>(6)
    for key in [nil, ListKey([9, 9], text: "a")] {
      for isBackward in [false, true] {
        try Self.readLists(ListSlice(after: key, isBackward: isBackward, limit: 3), of: ids[0], forum, tx)
      }
    }
    _ = try tx.sanction(.silence, of: RawDatabase.ada, in: forum)
    _ = try tx.report(ID(7))
    _ = try tx.openReport(by: RawDatabase.ada, of: RawDatabase.grace, ids[0])
    _ = try tx.openReportCount(by: RawDatabase.ada)
    for message in [nil, ids[0]] {
      var report = Report.blank
      report.message = message
      _ = try tx.openReports(like: report, limit: 3)
    }
    _ = try tx.moderators(in: forum, limit: 3)
    _ = try tx.newcomer(RawDatabase.ada)
    _ = try tx.authorStanding(of: RawDatabase.ada, in: RawDatabase.room)
    _ = try tx.linkAndMentionCount(of: ids[0])
    _ = try tx.sanction(ID(7))
    _ = try tx.removal(ID(7))
    _ = try tx.candidates(by: RawDatabase.ada, before: nil, limit: 3)
    _ = try tx.users(inBranchOf: ID(7), descendants: true, after: RawDatabase.ada, limit: 3)
    for slice in [ListSlice(limit: 3), ListSlice(after: ListKey(RawDatabase.ada), isBackward: true, limit: 3)] {
      _ = try tx.bots(slice)
      _ = try tx.webhooks(slice)
    }
    for slice in [ListSlice(limit: 3), ListSlice(after: ListKey(RawDatabase.ada), isBackward: true, limit: 3)] {
      _ = try tx.webhookEndpoints(slice)
      _ = try tx.webhookDeliveries(of: ID(7), slice)
    }
    _ = try tx.webhookEndpoint(ID(7))
    _ = try tx.storedWebhookEndpoint(ID(7))
    _ = try tx.enabledWebhookEndpoints(after: ID(7), limit: 3)
    _ = try tx.webhookEndpointCount(of: RawDatabase.ada)
    _ = try tx.webhookDelivery(ID(7), of: ID(8))
    _ = try tx.pendingWebhookDeliveries(of: ID(7), limit: 3)
    for slice in [ListSlice(limit: 3), ListSlice(after: ListKey(RawDatabase.ada), isBackward: true, limit: 3)] {
      _ = try tx.commands(slice)
      _ = try tx.apps(slice)
      _ = try tx.connectedApps(of: RawDatabase.ada, slice)
    }
    _ = try tx.app(ID(7))
    _ = try tx.secretDigest(of: ID(7))
    _ = try tx.appCode(withDigest: [7])
    _ = try tx.refreshToken(withDigest: [7])
    _ = try tx.accessToken(withDigest: [7])
    _ = try tx.isOfApp(ID(7))
    _ = try tx.command(ID(7))
    _ = try tx.enabledCommand(named: "weather")
    _ = try tx.hasCommand(named: "weather")
    _ = try tx.invocation(ID(7))
    _ = try tx.invocation(withDigest: [7])
    _ = try tx.replies([ID(7)])
    _ = try tx.reply(to: ID(7), "one")
    _ = try tx.webhook(ID(7))
    _ = try tx.webhook(withDigest: [7])
    _ = try tx.webhookCount(in: RawDatabase.room)
    _ = try tx.invite(signUpOf: RawDatabase.ada)
    _ = try tx.deleter(of: forum)
    _ = try tx.messageCount(of: forum)
    _ = try tx.memberCount(of: forum)
    _ = try tx.role(of: RawDatabase.ada, in: forum)
    _ = try tx.forums(joinedBy: RawDatabase.ada, and: RawDatabase.grace, ListSlice(limit: 3))
    _ = try tx.fileNames(of: ids[0])
    _ = try tx.historyStarts(of: forum)
    _ = try tx.standing(of: RawDatabase.ada, in: forum)
    _ = try tx.standing(of: RawDatabase.ada, in: RawDatabase.room)
    _ = try tx.firstSeq(in: RawDatabase.room, after: ids[2].number, lastSeq: 5, last: ids[4].number)
    _ = try tx.conversation(of: forum, after: RawDatabase.room)
    _ = try tx.forumIDs(after: forum, limit: 3)
    _ = try tx.participations(in: RawDatabase.room, after: RawDatabase.ada, limit: 3)
    _ = try tx.topic(RawDatabase.room)
    _ = try tx.newestTopic(of: ID(6))
    _ = try tx.tags(of: ID(6), limit: 3)
    _ = try tx.defaultForums()
    _ = try tx.forums(ofGroup: ID(9))
    _ = try tx.members(ofGroup: ID(9), after: RawDatabase.ada, limit: 3)
    _ = try tx.possibleReaders(ofGroup: ID(9), in: RawDatabase.room, after: RawDatabase.ada, limit: 3)
    _ = try tx.pushKey()
    _ = try tx.pushSubscription(ID(7), of: RawDatabase.ada, current: nil)
    _ = try tx.storedPushSubscription(ID(7), of: RawDatabase.ada)
    _ = try tx.pushSubscriptionCount(of: RawDatabase.ada)
    _ = try tx.pushSubscription(at: "https://push.example.net/1")
    _ = try tx.importedUsers(withEmail: "ada@example.org", limit: 3)
    _ = try tx.hasIdentity(at: [], of: RawDatabase.ada)
    _ = try (tx.duePushes(limit: 3), tx.pushWindow(after: 0, since: 0, limit: 3))
    _ = try tx.ownUnreadConversations(of: RawDatabase.ada)
    _ = try (tx.waitingPushCount(of: RawDatabase.ada), tx.waitingPushCount())
    _ = try (tx.email(of: RawDatabase.ada), tx.pendingEmail(withDigest: [1]), tx.mailRecipient(RawDatabase.ada))
    _ = try (tx.users(withEmail: "ada@example.org", limit: 3), tx.passwordResets(limit: 3), tx.mailKey())
    _ = try (tx.dueMails(limit: 3), tx.waitingMailCount(), tx.mailWindow(until: 1, limit: 3))
    _ = try (tx.digestRecipients(limit: 3), tx.stoppedEmailCount(), tx.activeSubscriber(ID(1)))
    _ = try tx.unreadNotifications(after: 0, upTo: 1, since: 0, limit: 3)
    _ = try tx.unreadNotifications(of: RawDatabase.ada, in: RawDatabase.room, limit: 3)
    _ = try tx.isLive(ids[0])
    _ = try tx.hasMessage(ids[0], in: RawDatabase.room)
    for count in [1, 50, 200] {
      _ = try SuppliedKind.allCases.map { try tx.suppliedUUIDs($0, of: Array(1...count)) }
      _ = try tx.lastChanges(of: (1...count).map { ID($0) })
    }
    _ = try (tx.dialectProfile(of: RawDatabase.ada), tx.isCover(ID(7)), tx.time(upTo: ids[0]))
    _ = try (tx.dialectMarker("global", of: RawDatabase.ada), tx.dialectMarkerCount(of: RawDatabase.ada))
    _ = try tx.subject(of: .message, named: "a")
    for count in [1, 50, 200] { _ = try tx.microseconds(of: try tx.messages((1...count).map { ids[$0 % 5] })) }
    for user in [nil, RawDatabase.ada] {
      _ = try tx.forums(changedAfter: 0, for: user, seeing: [.public, .members], offset: 2, limit: 3)
    }
    _ = try (tx.morMessagesSubscription("a"), tx.morMessagesSubscriptions(of: RawDatabase.ada))
    #expect(reader.cachedStatements.count > 25)
    let faults = try Self.faults(of: reader.cachedStatements, reader)
    #expect(faults == [], "\(faults)")
  }

  private static func readLists(
    _ slice: ListSlice, of message: ID<Message>, _ forum: ID<Forum>, _ tx: ReadTransaction
  ) throws {
    _ = try tx.revisions(of: message, slice)
    _ = try tx.replies(to: message, slice)
    _ = try tx.actions(on: message, viewer: RawDatabase.ada, seesStars: true, slice)
    _ = try tx.votes(in: message, slice)
    _ = try tx.marked("star", by: RawDatabase.ada, slice)
    _ = try tx.files(of: RawDatabase.ada, slice)
    _ = try tx.conversations(of: RawDatabase.ada, seeing: [.public], kind: nil, type: nil, slice)
    _ = try tx.participants(of: RawDatabase.room, slice)
    _ = try tx.timeline(of: RawDatabase.ada, isGuest: false, slice)
    _ = try tx.timeline(of: RawDatabase.ada, isGuest: false, withMentions: true, slice)
    _ = try tx.timelineFilters(of: RawDatabase.ada, slice)
    _ = try tx.timelineFilter("roses", of: RawDatabase.ada)
    _ = try tx.timelineFilterCount(of: RawDatabase.ada)
    _ = try tx.timelinePosition(of: RawDatabase.ada)
    _ = try tx.count(of: [message], notBy: RawDatabase.ada)
    let seeds = try SearchQuery("seeds")
    let criteria = PostCriteria(authors: [RawDatabase.ada], words: ["seeds"], reposts: true)
    _ = try tx.posts(
      [DatedMessage(time: 1, message: message)],
      listedBy: TimelineFilter(name: "roses", include: criteria, exclude: criteria)
    ) { _ in seeds }
    _ = try tx.globalTimeline(for: nil, isGuest: true, slice)
    _ = try tx.timelineFeeds(of: RawDatabase.ada)
    _ = try tx.events(in: .conversation(RawDatabase.room), slice)
    for isUnread in [false, true] { _ = try tx.inbox(of: RawDatabase.ada, isUnread: isUnread, slice) }
    _ = try tx.users(.follow, of: RawDatabase.ada, slice)
    _ = try tx.followers(of: RawDatabase.ada, slice)
    _ = try tx.sanctions(of: RawDatabase.ada, slice)
    _ = try tx.members(of: forum, slice)
    _ = try tx.userGroups(slice)
    _ = try tx.users(inGroup: ID(9), slice)
    _ = try tx.topics(of: forum, slice)
    _ = try tx.topics(of: forum, tagged: "seeds", slice)
    _ = try tx.topics(of: forum, TopicConditions(title: "seeds"), slice)
    for text in [nil, "garden"] {
      _ = try tx.forums(for: RawDatabase.ada, seeing: [.public], with: text, slice)
    }
    for number in 0..<16 {
      var filter = AuditFilter()
      filter.actor = number & 1 == 0 ? nil : RawDatabase.ada
      filter.subject = number & 2 == 0 ? nil : 7
      filter.kind = number & 4 == 0 ? nil : .userBanned
      filter.forum = number & 8 == 0 ? nil : forum
      _ = try tx.audit(filter, slice)
    }
    for number in 0..<8 {
      var filter = ReportFilter()
      filter.forum = number & 1 == 0 ? nil : forum
      filter.user = number & 2 == 0 ? nil : RawDatabase.ada
      filter.assignee = number & 4 == 0 ? nil : RawDatabase.ada
      _ = try tx.reports(filter, slice, viewer: RawDatabase.grace)
    }
    _ = try tx.sessions(.session, of: RawDatabase.ada, slice, current: nil)
    _ = try tx.signIns(of: RawDatabase.ada, slice)
    _ = try tx.signIn(to: ID(7), of: RawDatabase.ada)
    _ = try tx.pushSubscriptions(of: RawDatabase.ada, slice, current: nil)
    for maker in [nil, RawDatabase.ada] { _ = try tx.invites(by: maker, slice) }
    _ = try tx.users(namePrefix: "a", slice)
    _ = try tx.users(foundBy: "a", slice)
  }

  private static func askAboutEvents(_ count: Int, _ tx: ReadTransaction) throws {
    let numbers = 1...count
    _ = try tx.conversations(numbers.map { ID($0) })
    _ = try tx.forums(numbers.map { ID($0) })
    _ = try tx.users(numbers.map { ID($0) })
    _ = try tx.roles(of: numbers.map { UserSubject<Conversation>(RawDatabase.ada, ID($0)) })
    _ = try tx.roles(of: numbers.map { UserSubject<Forum>(RawDatabase.ada, ID($0)) })
    _ = try tx.groupAccess(of: numbers.map { UserSubject<Forum>(RawDatabase.ada, ID($0)) })
    _ = try tx.newAccess(numbers.map { UserSubject(RawDatabase.ada, ID($0)) })
    _ = try tx.readPositions(of: numbers.map { UserSubject(RawDatabase.ada, ID($0)) })
    _ = try tx.receipts(of: numbers.map { UserSubject(RawDatabase.ada, ID($0)) })
    _ = try tx.stars(of: numbers.map { UserSubject(RawDatabase.ada, ID($0)) })
    _ = try tx.levels(of: numbers.map { UserSubject(RawDatabase.ada, ID($0)) })
    _ = try tx.later(of: numbers.map { UserSubject(RawDatabase.ada, ID($0)) })
    _ = try tx.relations(of: numbers.map { UserSubject(ID($0), RawDatabase.ada) })
  }

  @Test func `every query of a write finds its rows by an index`() async throws {
    let garden = try await Garden()
    _ = try await garden.post("seeds", as: "one")
    _ = try await garden.post("seeds", as: "one")
    let earlier = try await garden.post("weeds").id
    try await garden.write { tx throws(Refusal) in
      let group = try tx.startImport(of: ImportedConversation(.group, by: Garden.ada, createdAt: 1))
      let message = NewMessage(conversation: group, author: Garden.ada, text: "plums")
      _ = try tx.importMessage(message, createdAt: 2)
      try tx.openImported(group, by: Garden.ada)
      try tx.remove(earlier, by: Garden.grace, reason: nil, sealedFor: 0)
      _ = try tx.expired()
      _ = try tx.add(NewSanction(.ban, of: Garden.grace, until: 1, reason: nil), by: Garden.ada)
      _ = try tx.liftExpiredBans(limit: 10)
      _ = try tx.clearEndedStatuses(limit: 10)
      let endpoint = try tx.add(RestoredEndpointTests.endpoint("hook"))
      let delivery = NewWebhookDelivery("msg_1", type: "message.created", event: 1, attempt: 1)
      try tx.finish(
        try tx.add(delivery, of: endpoint, .pending), .failed, status: 500, fault: nil, duration: 7)
      try tx.renewSecret(of: endpoint, sealed: [2])
      try tx.didFail(endpoint, nextAttemptAt: 1)
      try tx.didDeliver(to: endpoint, cursor: "a.b.2")
      try tx.move(endpoint, to: "a.b.3")
      try tx.trimWebhookDeliveries(of: endpoint)
      _ = try tx.removeOldWebhookDeliveries(limit: 10)
      _ = try tx.removePreviousSecrets(limit: 10)
      _ = try tx.removeOldMails(limit: 10)
      try tx.enqueueDigest(of: Garden.ada)
      try tx.setDigestTime(1, of: Garden.ada)
      _ = try (tx.noteBounce(of: 1, to: Garden.ada, limit: 3), tx.removeOldBounces(limit: 10))
      _ = try tx.removeOldPasswordResets(limit: 10)
      _ = try tx.countMailedReset(of: Garden.ada, window: 1)
      try tx.setToken(nil, of: endpoint)
      try tx.disable(endpoint, .request)
      try tx.enable(endpoint)
      try tx.disableWebhookEndpoints(of: Garden.ada)
      try tx.disableWebhookEndpoints(ofTokens: [ID(7)])
      try tx.delete(endpoint)
      let app = try tx.add(
        NewStoredApp(AppDraft(name: "Ferry", redirectURIs: ["https://example.org/"]), digest: nil, creator: Garden.ada))
      guard let knownApp = try tx.app(app) else { throw .notFound }
      try tx.set(knownApp)
      try tx.setSecret([7], of: app)
      try tx.add(RestoredAppTests.code(app, digest: [7]))
      guard let appCode = try tx.appCode(withDigest: [7]) else { throw .notFound }
      let grant = try tx.addGrant(of: appCode, withDigest: [7])
      try tx.addRefreshToken([8], replacing: nil, of: grant.id)
      try tx.addRefreshToken([9], replacing: [8], of: grant.id)
      try tx.trimAccessTokens(of: grant.id)
      try tx.trimGrants(of: app, by: Garden.ada)
      try tx.endGrants(of: app, by: Garden.ada)
      try tx.endGrants(ofUser: Garden.ada)
      _ = try tx.removeExpiredAppCodes(limit: 10)
      _ = try tx.removeUsedRefreshTokens(limit: 10)
      _ = try tx.removeIdleGrants(limit: 10)
      _ = try tx.removeUnusedApps(limit: 10)
      _ = try tx.addExport(of: Garden.ada)
      _ = try (tx.export(of: Garden.ada), tx.exportCount(upTo: 10), tx.removeExpiredExports(limit: 10))
      try tx.discardExports()
      try tx.delete(app)
      try tx.set(DialectProfile(locale: "de", cover: ID(7)), of: Garden.ada)
      try tx.removeCovers(ID(7))
      try tx.set(
        DialectMarker(name: "a", message: ID(7), lastRead: ID(7), percentage: 0, updatedAt: 1, version: 1),
        of: Garden.ada)
      try tx.removeOldestDialectMarker(of: Garden.ada)
      try tx.removeDialectMarker("a", of: Garden.ada)
      try tx.removeDialectProfile(of: Garden.ada)
      try tx.supply("a", for: .forum, 7, by: Garden.ada)
      let subscription = MorMessagesSubscription(id: "a", user: Garden.ada, forum: ID(7), topic: "a", expiresAt: 1)
      try tx.add(subscription)
      try tx.renew(subscription)
      try tx.deleteMorMessagesSubscription("a", of: Garden.ada)
      _ = try tx.removeExpiredSubscriptions(limit: 10)
      _ = try tx.removeSuppliedUUIDs(of: Garden.ada, limit: 10)
      let draft = SlashCommandDraft(
        name: "weather", bot: Garden.ada, url: "https://example.org/")
      let command = try tx.add(
        NewStoredCommand(draft, owner: Garden.ada, secret: [1], token: nil, origin: "https://example.org"))
      guard let known = try tx.command(command) else { throw .notFound }
      let used = try tx.addInvocation(of: known, by: Garden.ada, in: Garden.room, digest: [7])
      guard let invocation = try tx.invocation(used) else { throw .notFound }
      _ = try tx.addReply(CommandReplyDraft("18"), to: invocation)
      try tx.set(.delivered, of: used)
      try tx.set(known, origin: "https://example.org")
      try tx.renewSecret(of: command, sealed: [2])
      _ = try tx.removePreviousCommandSecrets(limit: 10)
      try tx.setToken(nil, of: command)
      try tx.disable(command, .request)
      try tx.enable(command)
      try tx.disableCommands(of: Garden.ada)
      try tx.disableCommands(ofTokens: [ID(7)])
      _ = try tx.removeInvocations(of: Garden.ada, limit: 10)
      _ = try tx.removeOldInvocations(limit: 10)
      try tx.delete(command)
      try tx.deleteCommands(ofBot: Garden.ada)
      try tx.logPrivateChange(of: Garden.grace, by: Garden.ada)
      var removal = NewRemoval(since: 0, reason: nil)
      removal.author = Garden.grace
      let made = try tx.add(removal, by: Garden.ada)
      try tx.recordProgress(1, removedBy: made, isFinished: true)
      _ = try tx.markUndone(made, by: Garden.ada)
      var progress = RestorationProgress(made, by: Garden.ada)
      _ = try tx.restoreNextChunk(&progress)
      _ = try tx.expireSealed(limit: 10)
      _ = try tx.expireReportCopies(limit: 10)
      try tx.recordPurged(try tx.destruction().count, rewritten: true)
    }
    try await garden.store.write { tx throws(Refusal) in
      let forum = try tx.add(ForumDraft(title: "Garden", visibility: .public), by: Garden.ada)
      var renamed = forum
      renamed.title = "Orchard"
      renamed.readGroups = [ID(9)]
      let changed = try tx.change(forum, to: renamed, by: Garden.ada)
      try tx.openHistory(of: forum.id, after: tx.latestMessageID, from: .members, to: .public, by: Garden.ada)
      _ = try tx.recordRoomMention(in: forum.id, minInterval: 1)
      _ = try tx.addTopic("weeds", in: forum.id, by: Garden.ada)
      _ = try tx.setMember(Garden.grace, .member, of: forum.id, by: Garden.ada)
      _ = try tx.removeMember(Garden.ada, of: forum.id, by: Garden.ada)
      try tx.promoteNextAdmin(of: forum.id, excluding: Garden.ada)
      _ = try tx.removeFromConversations(of: forum.id, Garden.ada, limit: 10, by: Garden.ada)
      try tx.removeDeletedForumMember(Garden.ada, of: forum.id, by: Garden.ada)
      try tx.delete(changed, by: Garden.ada)
      let topic = try tx.addTopic("leaves", tags: ["leaf"], in: forum.id, by: Garden.ada)
      try tx.setTags(of: topic, ["tree"], by: Garden.ada)
      let leaf = try tx.post(NewMessage(conversation: Garden.room, author: Garden.ada, text: "leaf"))
      var survey = NewMessage(conversation: Garden.room, author: Garden.ada, text: "Which?")
      survey.poll = Poll([.init("red"), .init("white")])
      let asked = try tx.post(survey)
      for options in [[0], [1], []] { try tx.setVote(options, in: asked.id, of: Garden.room, by: Garden.ada) }
      var repost = NewMessage(conversation: Garden.room, author: Garden.ada, text: "")
      repost.repostOf = leaf.id
      _ = try tx.post(repost)
      try tx.deleteReposts(of: leaf.id, by: Garden.ada)
      _ = try tx.votes(of: [UserSubject(Garden.ada, asked.id)])
      try tx.closePoll(of: asked.id, in: Garden.room, by: Garden.ada)
      if let root = try tx.messages([leaf.id]).first {
        var move = BranchMove(of: root, to: topic, in: forum.id, by: Garden.ada)
        while try !tx.moveMore(&move) {}
      }
      var erasure = ForumErasure(forum.id, by: Garden.ada)
      while try !tx.eraseNextChunk(&erasure) {}
    }
    let content = try await garden.store.blobs.writer().finish()
    try await garden.store.write { tx throws(Refusal) in
      let draft = FileDraft(name: "x")
      let room = FileQuota(user: 1, site: 1)
      let new = NewFile(
        owner: Garden.ada, draft, content, kind: "text", mimeType: "text/plain", width: nil, height: nil)
      let file = try tx.add(new, in: room)
      let preview = NewPreview(content, mimeType: "image/png", width: 1, height: 1)
      if let kept = try tx.keptFile(file.id) { _ = try tx.setPreview(preview, of: kept, in: room) }
      guard let ada = try tx.user(Garden.ada) else { throw .notFound }
      try tx.setAvatar(file.id, of: ada, by: Garden.ada)
      try tx.setAvatar(nil, of: ada, by: Garden.ada)
      let emoji = try tx.addCustomEmoji("parrot", file.id, by: Garden.ada)
      _ = try (tx.hasCustomEmoji(named: "parrot"), tx.isCustomEmoji(file.id))
      try tx.removeCustomEmoji(emoji.id, by: Garden.ada)
      var group = UserGroup.blank
      group.name = "gardeners"
      group = try tx.add(group, by: Garden.ada)
      _ = try (tx.userGroup(named: "gardeners"), tx.userGroupCount(), tx.isMember(Garden.ada, ofGroup: group.id))
      _ = try tx.addMember(Garden.ada, toGroup: group.id, by: Garden.ada)
      _ = try tx.removeMember(Garden.ada, ofGroup: group.id, by: Garden.ada)
      try tx.remove(group.id, by: Garden.ada)
      _ = try tx.removeMembers(ofGroup: group.id, limit: 1, by: Garden.ada)
      let upload = try tx.addUpload(draft, size: 1, by: Garden.ada)
      try tx.recordReceived(1, of: upload.id)
      try tx.removeUpload(upload.id)
      if let kept = try tx.keptFile(file.id) { try tx.remove(kept) }
      _ = try tx.removeUnusedFiles(limit: 1)
      _ = try tx.removeReleasedFiles(limit: 1)
      _ = try tx.removeIdleUploads(limit: 1)
    }
    _ = try await garden.store.removeLooseContent()
    try await garden.store.removeOrphanedContent()
    let faults = try await garden.store.write { tx throws(Refusal) in
      var group = NewConversation(.group)
      group.participants = [NewParticipant(Garden.ada, .admin), NewParticipant(Garden.grace)]
      let id = try tx.add(group, by: Garden.ada)
      guard let made = try tx.conversation(id) else { throw .notFound }
      try tx.remove(Participant(Garden.ada, .admin), from: made, by: Garden.ada)
      _ = try tx.move(.read, of: Garden.grace, in: Garden.room, to: 1)
      _ = try tx.sendPendingReceipts(limit: 1)
      try tx.addNotification(.mention, of: Garden.grace, in: Garden.room, message: ID(9), by: Garden.ada)
      _ = try tx.markNotificationsRead(of: Garden.grace, in: Garden.room, upTo: ID(9))
      _ = try tx.markNotificationsRead(of: Garden.grace, upTo: ID(9))
      try tx.removeRequestNotification(of: Garden.grace, in: Garden.room, by: Garden.ada)
      try tx.removeNotifications(ID(9), by: Garden.ada)
      try tx.setLevel(.nothing, of: Garden.grace, in: id)
      try tx.setLater(until: .max, id, of: Garden.grace)
      try tx.setLater(until: nil, id, of: Garden.grace)
      _ = try tx.removeEndedLater(limit: 1)
      _ = try tx.markNotificationsRead(of: Garden.grace, upTo: ID(9), keepsLater: true)
      return try tx.run { connection in
        #expect(connection.cachedStatements.count > 40)
        return try Self.faults(of: connection.cachedStatements, connection)
      }
    }
    #expect(faults == [], "\(faults)")
    await garden.store.close()
  }

  @Test func `every query of sign-in, of devices and of mail finds its rows by an index`() async throws {
    let garden = try await Garden()
    let (ada, grace) = (Garden.ada, Garden.grace)
    try await garden.store.write { tx throws(Refusal) in
      let session = try tx.add(NewSession(user: grace, kind: .session, digest: [1], name: "", scope: .read))
      let phone = NewPushSubscription(
        user: grace, session: session, name: "Phone", endpoint: "https://push.example.net/1", point: [4], auth: [1],
        language: nil)
      let device = try tx.add(phone)
      try tx.change(device, to: phone)
      for _ in 1...3 { try tx.addNotification(.token, of: grace, by: grace) }
      _ = try (tx.enqueuePushes(after: 0, upTo: .max, since: 0), tx.newestPushTime())
      try tx.advancePushes(by: 1)
      let due = try tx.duePushes(limit: 9)
      guard let push = due.first else { throw .notFound }
      try tx.postpone([(push: push, until: 1)])
      try tx.retry(push, at: 1, service: 2)
      try tx.shorten(push)
      try tx.recordSent(push, next: 0)
      try tx.removeSentPushes(limit: 9)
      try tx.drop(due)
      _ = try (tx.trimPushes(of: [grace], to: -1), tx.trimPushes(to: -1))
      try tx.deletePushSubscription(device)
      try tx.setPushKey([1])
      try tx.setMailKey([1])
      try tx.setMailCursor(1)
      _ = try tx.setPendingEmail("grace@example.org", of: grace, window: 1)
      try tx.setEmailCode(digest: [1], of: grace, expiresAt: 1)
      try tx.confirmEmail(of: grace)
      try tx.noteEmailRefused(of: grace, limit: 3)
      for topic in [MailTopic.conversation(Garden.room), .account(.passwordChanged)] {
        try tx.mailNotification(topic, of: grace)
      }
      let mails = try tx.dueMails(limit: 9)
      guard let mail = mails.first else { throw .notFound }
      try tx.retry(mail, at: 1)
      try tx.recordSent(mail, notification: nil, next: 1)
      try tx.recordSent(mail, notification: nil, next: nil)
      try tx.drop(mail)
      _ = try (tx.trimMails(of: grace, to: -9), tx.trimMails(to: -9), tx.newestMailTime())
      try tx.advanceMails(by: 1)
      try tx.addPasswordReset("grace", limit: 9)
      try tx.deletePasswordReset("grace")
      try tx.forgetMailedResets(of: grace)
      try tx.deletePendingEmail(of: grace)
      try tx.deleteEmail(of: grace)
    }
    let faults = try await garden.store.write { tx throws(Refusal) in
      let session = try tx.add(NewSession(user: ada, kind: .session, digest: [2], name: "", scope: .admin))
      try tx.addSignIn(.password, .signedIn, of: ada, on: "laptop", from: nil, session: session)
      _ = try (tx.isNewDevice("laptop", from: nil, of: ada), tx.removeOldSignIns(limit: 9))
      try tx.forgetDevices(of: ada)
      try tx.setPassword("x", of: ada)
      try tx.rehashPassword("y", of: ada, from: "x")
      try tx.touch(session, of: ada, from: "192.0.2.0/24")
      try tx.shortenSessions(of: ada)
      try tx.prove(session)
      try tx.setTOTP([1], of: ada)
      try tx.confirmTOTP(of: ada)
      try tx.useUp(step: 1, of: ada)
      try tx.setRecoveryCodes(digests: [[1]], of: ada)
      _ = try (tx.useUp(recoveryCode: [1], of: ada), tx.removeSecondFactor(of: ada))
      let passkey = try tx.add(
        NewPasskey(
          user: ada, credentialID: [1], key: [1], host: "example.org", name: "Key", signCount: 0,
          isBackupEligible: false, isBackedUp: false, transports: []))
      try tx.rename(passkey, of: ada, to: "Blue key")
      try tx.noteUse(of: passkey, signCount: 1, isBackedUp: false)
      try tx.note(session, of: passkey)
      _ = try tx.useUp(challenge: [1], until: 1)
      try tx.endSessions(openedBy: passkey, except: session)
      _ = try (tx.deletePasskey(passkey, of: ada), tx.deletePasskeys(of: ada))
      let identity = try tx.addIdentity(of: ada, at: "https://id.example.org", subject: "1", name: "ada")
      try tx.noteUse(of: identity, name: "ada")
      try tx.note(session, of: identity, sid: "s")
      try tx.endSessions(openedBy: identity, except: session)
      try tx.endSessions(at: "https://id.example.org", subject: "1", sid: "s")
      try tx.endSessions(at: "https://id.example.org", subject: "1", sid: nil)
      try tx.endSessions(at: "https://id.example.org", sid: "s")
      _ = try tx.deleteIdentities(of: ada, except: identity)
      try tx.deleteIdentity(identity)
      try tx.addLink(.reset, for: ada, digest: [1], expiresAt: 1, isMailed: true)
      try tx.deleteMailedLinks(of: ada)
      try tx.useUp(linkWithDigest: [1])
      let invite = try tx.add(
        NewInvite(digest: [1], createdBy: ada, role: .member, forum: nil, claims: grace, maxUses: 1, expiresAt: nil))
      try tx.use(invite: invite, by: grace)
      try tx.revokeMailedInvites(claiming: grace)
      _ = try (tx.revoke(invite: invite, descendants: false), tx.revoke(invite: invite, descendants: true))
      try tx.endAccess(madeBy: ada)
      try tx.end(session, .session, of: ada)
      try tx.endOtherSessions(of: ada, except: session)
      try tx.trimSessions(of: ada, limit: 9)
      try tx.endAllSessions(of: ada)
      _ = try tx.removeOldEndedSessions(limit: 9)
      return try tx.run { connection in
        #expect(connection.cachedStatements.count > 100)
        return try Self.faults(of: connection.cachedStatements, connection)
      }
    }
    #expect(faults == [], "\(faults)")
    await garden.store.close()
  }

  @Test func `every query of a departure finds its rows by an index`() async throws {
    let garden = try await Garden(jobs: [.departure])
    let message = try await garden.post("seeds")
    try await garden.store.write { tx throws(Refusal) in
      try tx.set(.block, of: Garden.ada, to: Garden.grace)
      try tx.storeAddressKey("key")
      try tx.setAddresses([[1]], of: Garden.ada)
      try tx.run { connection in
        try connection.execute(
          "insert into participant (conversation_id, user_id, role, joined_at) values (3, 1, 'admin', 0)")
        try connection.execute(
          """
          insert into action (message_id, type, user_id, created_at, message_at)
          values ($1, 'like', 1, 0, 0)
          """, message.id.number)
      }
      _ = try tx.depart(Garden.ada, as: .erased, by: Garden.ada)
    }
    await garden.store.jobs.run()
    let (count, faults) = try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        (connection.cachedStatements.count, try Self.faults(of: connection.cachedStatements, connection))
      }
    }
    #expect(count > 30)
    #expect(faults == [], "\(faults)")
    await garden.store.close()
  }

  @Test func `a query that scans a table is detected`() throws {
    let database = try RawDatabase()
    let slow = ["select id from message where text = 'seeds'", "select id from message where seq > 1 order by text"]
    #expect(try Self.faults(of: slow, database.connection).count == 3)
  }
}
