import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addChannels(to table: inout Table) throws {
    let (channel, own, participant) = (
      "/channels/{id}", "/users/me/channels", "/conversations/{id}/participants/{user}"
    )
    try table.on(.get, "/channels", as: "GET /conversations") { try await $0.getChannels() }
    try table.on(.post, "/channels", as: "POST /conversations") { try await $0.createChannel() }
    try table.on(.get, "/channels/search", as: "GET /forums") { try await $0.searchChannels() }
    try table.on(.get, channel, as: "GET /conversations/{id}") { try await $0.getChannel() }
    try table.on(.put, channel, as: "PATCH /conversations/{id}") { try await $0.updateChannel() }
    try table.on(.delete, channel, as: "DELETE /conversations/{id}") { try await $0.deleteChannel() }
    try table.on(.put, "\(channel)/subscribe", as: "PUT \(participant)") { try await $0.subscribe(true) }
    try table.on(.delete, "\(channel)/subscribe", as: "DELETE \(participant)") { try await $0.subscribe(false) }
    try table.on(.put, "\(channel)/mute", as: "PUT /conversations/{id}/level") { try await $0.mute(true) }
    try table.on(.delete, "\(channel)/mute", as: "DELETE /conversations/{id}/level") { try await $0.mute(false) }
    try table.on(.get, "\(channel)/subscribers", as: "GET /conversations/{id}/participants") {
      try await $0.listSubscribers()
    }
    try table.on(.get, own, as: "GET /conversations") { try await $0.listOwnChannels() }
    try table.on(.get, "\(own)/subscribed", as: "GET /conversations") { try await $0.listSubscribed() }
    try table.on(.get, "\(own)/muted", as: "GET /conversations") { try await $0.listMuted() }
    try table.on(.get, "\(own)/existing_pm", as: "GET /conversations") { try await $0.getExistingPrivate() }
    try table.on(.get, "\(own)/num_unread", as: "GET /conversations") { try await $0.countUnread() }
    try table.on(.delete, "\(own)/num_unread", as: "PUT /conversations/{id}/read") { try await $0.markAllRead() }
  }
}

extension PnutCall {
  /// `ids`, in their order. Unknown ones are left out.
  func getChannels() async throws -> Response {
    let ids: [ID<Conversation>] = try query.ids("ids")
    var found: [OwnConversation] = []
    for id in ids {
      if let own = try readable(id), own.conversation.isChannel { found.append(own) }
      // Other requests of the event loop have a turn.
      await Task.yield()
    }
    return .envelope(try await channels(found))
  }

  /// The conversation, unless the caller may not read it.
  func readable(_ id: ID<Conversation>) throws(Refusal) -> OwnConversation? {
    do throws(Refusal) {
      guard case .forUser(let own) = try view.getConversation(id, for: caller) else { return nil }
      return own
    } catch {
      guard error == .notFound else { throw error }
      return nil
    }
  }

  func getChannel() async throws -> Response { try await one(try channel(try id())) }

  /// Creates a channel of the client's own type, or a forum for the type of chats.
  func createChannel() async throws -> Response {
    let body = try await body()
    guard let type = try body.text("type") else { throw Refusal.invalid("type", .missing) }
    let access = try AccessInput(body)
    switch type {
    case PnutChannel.privateType:
      throw EnvelopeFailure(.badRequest, "Post to channels/pm/messages to create a private channel.")
    case PnutChannel.chatType: return try await createForum(body, access)
    default: break
    }
    let title = try PnutChannel.settings(in: body)?.name
    let annotations = try PnutChannel.annotations(in: body)
    let draft = try Self.native({ json in
      json.field("kind", Conversation.Kind.channel.rawValue)
      json.field("type", type)
      if let title { json.field("title", title) }
      if let annotations { json.field("annotations", annotations) }
      json.object("readers") { json in
        json.field("open_to", (access.readers ?? .listed).rawValue)
        json.field("immutable", access.readersAreImmutable)
      }
      json.object("writers") { json in
        json.field("open_to", (access.writers ?? .listed).rawValue)
        json.field("immutable", access.writersAreImmutable)
      }
      json.array("participants") { json in
        for (user, role) in access.users {
          json.object { json in
            json.field("user_id", user)
            json.field("role", role.rawValue)
          }
        }
      }
    }) { body throws(JSONError) in try ConversationDraft(&body) }
    return try await one(try await community.createConversation(draft, by: caller).conversation, .created)
  }

  private func createForum(_ body: LenientBody, _ access: AccessInput) async throws -> Response {
    guard let settings = try PnutChannel.settings(in: body), let title = settings.name else {
      throw EnvelopeFailure(.badRequest, "A chat needs raw io.pnut.core.chat-settings with a name.")
    }
    let visibility: Visibility =
      switch access.readers ?? .listed {
      case .anyone: .public
      case .users: .members
      case .listed: .private
      }
    var draft = ForumDraft(title: title, visibility: visibility)
    if let about = settings.description { draft.fields.set(\.about, to: about) }
    let room = try await community.createForum(draft, by: caller).forum.forum.room
    return try await one(try channel(room), .created)
  }

  /// Changes readers, writers, the name and `raw`. Users outside of the new lists lose their part.
  func updateChannel() async throws -> Response {
    let (id, body) = (try channel(try id()).conversation.id, try await body())
    let access = try AccessInput(body)
    let (title, annotations) = (try PnutChannel.settings(in: body)?.name, try PnutChannel.annotations(in: body))
    let change = try Self.native({ json in
      if let title { json.field("title", title) }
      if let annotations { json.field("annotations", annotations) }
      if let readers = access.readers {
        json.object("readers") { json in json.field("open_to", readers.rawValue) }
      }
      if let writers = access.writers {
        json.object("writers") { json in json.field("open_to", writers.rawValue) }
      }
    }) { body throws(JSONError) in try ConversationChange(&body) }
    if change.changesConversation { _ = try await community.updateConversation(id, change, by: caller) }
    if access.hasLists { try await setParticipants(of: id, access) }
    return try await one(try channel(id))
  }

  private func setParticipants(of id: ID<Conversation>, _ access: AccessInput) async throws {
    let own = try channel(id)
    let listed =
      try own.conversation.participants
      ?? view.listParticipants(of: id, PageRequest(limit: IDRange.maxCount), for: caller).items
    var roles: [ID<User>: ParticipantRole] = [:]
    for (reference, role) in access.users { roles[try view.userID(reference, for: caller)] = role }
    let kept = [own.conversation.createdBy, try caller.requireUser()]
    for participant in listed where roles[participant.user] == nil && !kept.contains(participant.user) {
      // A list that the request leaves out stays.
      guard access.replaces(participant.role) else { continue }
      // Each of them is a request of the API.
      try context.count(.writing)
      try await community.removeParticipant(participant.user, of: id, by: caller)
    }
    let known = Dictionary(listed.map { ($0.user, $0.role) }) { one, _ in one }
    for (user, role) in roles.sorted(by: { $0.key < $1.key }) where known[user] != role && !kept.contains(user) {
      try context.count(.writing)
      _ = try await community.setParticipant(user, role, of: id, by: caller)
    }
  }

  func deleteChannel() async throws -> Response {
    let own = try channel(try id())
    let shown = try await channels([own])
    try await community.deleteConversation(own.conversation.id, by: caller)
    return .envelope(shown.first)
  }

  // MARK: Subscriptions

  /// Joins or leaves. A muted channel is heard again when it is joined.
  func subscribe(_ isSubscribed: Bool) async throws -> Response {
    let own = try channel(try id())
    let (id, me) = (own.conversation.id, try caller.requireUser())
    // The caller may not read it any more when they have left it.
    var left = try await channels([own]).first
    left?.isLeft = true
    switch own.conversation.kind {
    case .room:
      guard let forum = own.conversation.forum else { throw Refusal.notFound }
      if isSubscribed {
        _ = try await community.setForumMember(.me, nil, of: forum, by: caller)
      } else {
        try await community.removeForumMember(.me, of: forum, by: caller)
      }
    case .group, .channel:
      if isSubscribed, own.participation?.isRequest == true {
        _ = try await community.acceptRequest(id, by: caller)
      } else if isSubscribed {
        _ = try await community.setParticipant(me, nil, of: id, by: caller)
      } else {
        try await community.removeParticipant(me, of: id, by: caller)
      }
    // A direct conversation has the same two participants for ever.
    case .direct:
      guard isSubscribed else { throw Refusal.forbidden }
      if own.participation?.isRequest == true { _ = try await community.acceptRequest(id, by: caller) }
    case .topic, .feed: throw Refusal.notFound
    }
    if isSubscribed, own.level == .nothing {
      _ = try await community.setConversationLevel(nil, in: id, by: caller)
    }
    if !isSubscribed { try await community.removeDialectMarker(of: .channel(id), by: caller) }
    if let after = try readable(id) { return try await one(after) }
    return .envelope(left)
  }

  /// Mutes a channel: it causes no notifications.
  func mute(_ isMuted: Bool) async throws -> Response {
    let id = try channel(try id()).conversation.id
    _ = try await community.setConversationLevel(isMuted ? .nothing : nil, in: id, by: caller)
    return try await one(try channel(id))
  }

  /// The participants, by id. In a room: the members of the forum.
  func listSubscribers() async throws -> Response {
    let conversation = try channel(try id()).conversation
    return try await page(
      IDRange.Source<ID<User>>(
        isAscending: true, id: { $0.number },
        read: { page in
          if let forum = conversation.forum {
            let found = try view.listForumMembers(of: forum, page, for: caller)
            return try found.map { members in members.map(\.user.id) }
          }
          let found = try view.listParticipants(of: conversation.id, page, for: caller)
          return try found.map { participants in participants.map(\.user) }
        }),
      showing: { ids in
        let found = try users(ids)
        return ids.compactMap { found[$0] }
      })
  }

  // MARK: Lists

  /// The caller's channels that a condition holds for, last active first.
  private func list(
    _ isListed: @escaping (OwnConversation) throws -> Bool = { _ in true }
  ) async throws -> Response {
    let (types, others) = (query.list("channel_types"), query.list("exclude_channel_types"))
    return try await page(
      IDRange.Source<OwnConversation>(
        id: { PnutChannel.paginationID(of: $0) },
        filter: { found in
          try found.filter { own in
            let type = own.conversation.channelType
            guard own.conversation.isChannel, types.isEmpty || types.contains(type), !others.contains(type) else {
              return false
            }
            return try isListed(own)
          }
        },
        read: { page in try view.listConversations(kind: nil, type: nil, page, for: caller) }),
      showing: { try await channels($0) })
  }

  func listSubscribed() async throws -> Response { try await list { $0.level != .nothing } }

  func listMuted() async throws -> Response { try await list { $0.level == .nothing } }

  /// The channels that the caller has created.
  func listOwnChannels() async throws -> Response {
    let me = try caller.requireUser()
    return try await list { $0.conversation.createdBy == me }
  }

  /// The rooms of the forums whose title has the words `q`, last active first. The site lists no other channels.
  func searchChannels() async throws -> Response {
    let limit = abs(IDRange(query).count)
    let types = query.list("channel_types")
    guard limit > 0, types.isEmpty || types.contains(PnutChannel.chatType) else {
      return .envelope([PnutChannel](), page: ListMeta())
    }
    let found = try await community.listForums(with: query.text("q"), PageRequest(limit: limit), for: caller)
    let rooms = try found.items.compactMap { forum in try readable(forum.forum.room) }
    return .envelope(try await channels(rooms), page: ListMeta())
  }

  // MARK: Private channels

  /// Conversations that are read to find one by its participants, and to count unread ones.
  private static let maxRead = 1_000

  /// - Parameter body: whether the conversation is the last that is read.
  fileprivate func eachPrivate(_ body: (OwnConversation) throws -> Bool) async throws {
    for kind in [Conversation.Kind.direct, .group] {
      var request = PageRequest(limit: IDRange.maxCount)
      for _ in 0..<(Self.maxRead / IDRange.maxCount) {
        let page = try view.listConversations(kind: kind, type: nil, request, for: caller)
        for own in page.items where try body(own) { return }
        guard let next = page.next else { break }
        request.position = next
        // Other requests of the event loop have a turn.
        await Task.yield()
      }
    }
  }

  /// The private channel with exactly these users and the caller.
  func getExistingPrivate() async throws -> Response {
    let names = query.list("ids")
    guard (1...IDRange.maxCount).contains(names.count) else { throw Refusal.invalid("ids", .missing) }
    var wanted: Set<ID<User>> = [try caller.requireUser()]
    for name in names {
      guard let reference = UserReference(parsing: name) else { throw Refusal.invalid("ids", .invalid) }
      wanted.insert(try view.userID(reference, for: caller))
    }
    var found: OwnConversation?
    try await eachPrivate { own in
      guard let participants = own.conversation.participants, Set(participants.map(\.user)) == wanted else {
        return false
      }
      found = own
      return true
    }
    guard let found else { throw Refusal.notFound }
    return try await one(found)
  }

  /// The number of channels with unread messages, by type.
  func countUnread() async throws -> Response {
    let types = query.list("channel_types")
    guard types.isEmpty || types.contains(PnutChannel.privateType) else { return .envelope(UnreadChannels(counts: [])) }
    var count = 0
    try await eachPrivate { own in
      if own.unread > 0, own.level != .nothing { count += 1 }
      return false
    }
    return .envelope(UnreadChannels(counts: [(PnutChannel.privateType, count)]))
  }
}

extension PnutCall {
  /// Reads all private channels to their end.
  func markAllRead() async throws -> Response {
    var unread: [(ID<Conversation>, ID<Message>)] = []
    try await eachPrivate { own in
      if own.unread > 0, let last = own.conversation.lastMessage { unread.append((own.conversation.id, last)) }
      return false
    }
    for (index, (conversation, message)) in unread.enumerated() {
      if index > 0 { try context.count(.writing) }
      _ = try await community.advanceReadPosition(.read, in: conversation, to: message, by: caller)
    }
    return try await countUnread()
  }
}

private struct UnreadChannels: JSONWritable {
  let counts: [(type: String, count: Int)]

  func write(to json: inout JSONWriter) {
    json.object { json in
      for (type, count) in counts { json.field(type, count) }
    }
  }
}

/// `acl` in a body.
private struct AccessInput {
  private(set) var readers: Audience?
  private(set) var writers: Audience?
  private(set) var readersAreImmutable = false
  private(set) var writersAreImmutable = false
  private(set) var users: [(UserReference, ParticipantRole)] = []
  private var replaced: Set<ParticipantRole> = []

  var hasLists: Bool { !replaced.isEmpty }

  /// Whether the body has the list of this role.
  func replaces(_ role: ParticipantRole) -> Bool { replaced.contains(role) }

  init(_ body: LenientBody) throws {
    guard let lists = try body.object("acl") else { return }
    if let list = try lists.object("read") {
      let (isPublic, anyUser) = (try list.flag("public"), try list.flag("any_user"))
      if isPublic != nil || anyUser != nil {
        readers = isPublic == true ? .anyone : anyUser == true ? .users : .listed
      }
      readersAreImmutable = try list.flag("immutable") ?? false
      try take(list, as: .reader)
    }
    if let list = try lists.object("write") {
      if let anyUser = try list.flag("any_user") { writers = anyUser ? .users : .listed }
      writersAreImmutable = try list.flag("immutable") ?? false
      try take(list, as: .member)
    }
    if let list = try lists.object("full") { try take(list, as: .admin) }
  }

  /// A user in several lists has the widest role, which is read last.
  private mutating func take(_ list: LenientBody, as role: ParticipantRole) throws {
    guard let names = try list.list("user_ids") else { return }
    replaced.insert(role)
    guard names.count <= IDRange.maxCount else { throw Refusal.invalid("user_ids", .tooMany(limit: IDRange.maxCount)) }
    for name in names {
      guard let reference = UserReference(parsing: name) else { throw Refusal.invalid("user_ids", .invalid) }
      users.removeAll { $0.0 == reference }
      users.append((reference, role))
    }
  }
}
