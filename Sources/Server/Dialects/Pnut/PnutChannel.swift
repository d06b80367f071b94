import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// A channel: a conversation of the caller, or the room of a forum.
struct PnutChannel: JSONWritable {
  let own: OwnConversation
  /// The forum of a room.
  let forum: ForumView?
  let owner: PnutUser?
  let access: ChannelAccess
  let recent: PnutPost?
  let hasSticky: Bool?
  let marker: PnutMarker?
  let shows: PnutOptions
  /// Whether the caller has just left it.
  var isLeft = false

  /// Types of the conversations that pnut defines itself.
  static let privateType = "io.pnut.core.pm"
  static let chatType = "io.pnut.core.chat"
  private static let chatSettings = "io.pnut.core.chat-settings"

  func write(to json: inout JSONWriter) {
    let conversation = own.conversation
    json.object { json in
      json.field("id", conversation.id)
      json.field("pagination_id", String(Self.paginationID(of: own)))
      json.field("type", conversation.channelType)
      json.field("created_at", PnutCall.time(conversation.createdAt))
      // A private one belongs to all its participants.
      if conversation.channelType != Self.privateType {
        if let owner { json.field("user", owner) } else { json.field("user_id", conversation.createdBy) }
      }
      json.object("acl") { json in access.writeMembers(to: &json) }
      json.field("has_unread", own.unread > 0)
      if let hasSticky { json.field("has_sticky_messages", hasSticky) }
      json.field("you_subscribed", isSubscribed)
      json.field("you_muted", own.level == .nothing)
      if let last = own.lastMessage?.message {
        json.field(last.isLive ? "recent_message_id" : "recent_deleted_message_id", last.id)
      }
      if let recent { json.field("recent_message", recent) }
      if let marker { json.field("marker", marker) }
      if shows.flag("include_counts", or: true) {
        json.object("counts") { json in
          json.field("messages", conversation.lastSeq)
          if let count = forum?.memberCount ?? conversation.participantCount { json.field("subscribers", count) }
        }
      }
      if shows.raw("channel") { json.object("raw", writeRaw) }
    }
  }

  private var isSubscribed: Bool {
    if isLeft { return false }
    if own.conversation.kind == .room { return forum?.role != nil }
    return own.participation.map { !$0.isRequest } ?? false
  }

  private func writeRaw(to json: inout JSONWriter) {
    var values: [(type: String, values: [JSONRaw])] = []
    if let title = forum?.forum.title ?? own.conversation.title {
      var json = JSONWriter()
      json.object { json in
        json.field("name", title)
        if let about = forum?.forum.about, !about.isEmpty { json.field("description", about) }
      }
      values.append((Self.chatSettings, [JSONRaw(trusted: json.bytes)]))
    }
    // They were checked before they were stored.
    for (type, value) in (try? Self.annotations(in: own.conversation.annotations)) ?? [] {
      if let index = values.firstIndex(where: { $0.type == type }) {
        values[index].values.append(value)
      } else {
        values.append((type, [value]))
      }
    }
    for (type, values) in values { json.field(type, values) }
  }

  private static func annotations(in stored: JSONRaw) throws(JSONError) -> [(String, JSONRaw)] {
    try JSONValue(parsing: stored.bytes).array { item throws(JSONError) in
      var annotation = try item.object()
      return (try annotation.string("type"), try annotation.raw("value"))
    }
  }

  /// The position in lists: the last message, or the channel without one.
  static func paginationID(of own: OwnConversation) -> Int {
    own.conversation.lastMessage?.number ?? own.conversation.id.number
  }

  /// The name and the description in `raw`; nil without them.
  static func settings(in body: LenientBody) throws -> (name: String?, description: String?)? {
    guard let raw = try body.object("raw"), let value = try raw.array(chatSettings)?.first, value.kind == .object
    else { return nil }
    let settings = LenientBody(try value.object())
    return (try settings.text("name"), try settings.text("description"))
  }

  /// The other values in `raw`, as annotations of a conversation; nil without `raw`.
  static func annotations(in body: LenientBody) throws -> JSONRaw? {
    guard let members = try body.members("raw") else { return nil }
    var json = JSONWriter()
    try json.array { json in
      for (type, values) in members where type != chatSettings {
        for value in try values.array() {
          json.object { json in
            json.field("type", type)
            json.field("value", value)
          }
        }
      }
    }
    return JSONRaw(trusted: json.bytes)
  }
}

extension Conversation {
  /// The type of the channel.
  var channelType: String {
    switch kind {
    case .direct, .group: PnutChannel.privateType
    case .room: PnutChannel.chatType
    case .channel: type ?? PnutChannel.privateType
    case .topic, .feed: ""
    }
  }

  /// Whether clients of pnut see it as a channel. Topics and feeds have another form, or none.
  var isChannel: Bool {
    switch kind {
    case .direct, .group, .room, .channel: true
    case .topic, .feed: false
    }
  }
}

/// `acl`: the users that may read, write and manage a channel.
struct ChannelAccess {
  var full = List()
  var write = List()
  var read = List()

  struct List {
    var isImmutable = true
    /// Whether all users are in it.
    var anyUser = false
    /// Whether visitors are in it, too. Only of readers.
    var isPublic: Bool?
    var you = false
    var users: [ID<User>] = []
  }

  func writeMembers(to json: inout JSONWriter) {
    for (name, list) in [("full", full), ("write", write), ("read", read)] {
      json.object(name) { json in
        json.field("immutable", list.isImmutable)
        json.field("you", list.you)
        if name != "full" { json.field("any_user", list.anyUser) }
        if let isPublic = list.isPublic { json.field("public", isPublic) }
        json.field("user_ids", list.users)
      }
    }
  }

  init() {}

  /// - Parameter participants: those that the caller sees.
  init(_ own: OwnConversation, _ forum: ForumView?, _ participants: [Participant], for caller: Caller) {
    let conversation = own.conversation
    switch conversation.kind {
    case .direct, .group:
      write.users = participants.map(\.user)
      write.you = true
      read.you = true
    case .channel:
      let others = participants.filter { $0.user != conversation.createdBy }
      full.users = others.filter { $0.role == .admin }.map(\.user)
      write.users = others.filter { $0.role == .member }.map(\.user)
      read.users = others.filter { $0.role == .reader }.map(\.user)
      full.isImmutable = false
      full.you = own.participation?.role == .admin
      write.isImmutable = conversation.writers.isImmutable
      write.anyUser = conversation.writers.audience != .listed
      write.you = write.anyUser || own.participation.map { $0.role != .reader } ?? false
      read.isImmutable = conversation.readers.isImmutable
      read.anyUser = conversation.readers.audience == .users
      read.isPublic = conversation.readers.audience == .anyone
      read.you = true
    case .room:
      full.you = forum?.role == .admin || forum?.role == .moderator
      write.anyUser = forum?.forum.visibility != .private && forum?.forum.write == .readers
      write.you = write.anyUser || forum?.role != nil
      read.anyUser = forum?.forum.visibility == .members
      read.isPublic = forum?.forum.visibility == .public
      read.you = true
    case .topic, .feed: break
    }
  }
}

extension PnutCall {
  /// Channels as the caller sees them.
  ///
  /// - Parameter isWhole: whether facts that need a query per channel are added.
  func channels(_ listed: [OwnConversation], isWhole: Bool = false) async throws -> [PnutChannel] {
    let owners = try users(listed.map(\.conversation.createdBy))
    let recent = shows.flag("include_recent_message", or: false) ? listed.compactMap(\.lastMessage) : []
    let messages = Dictionary(try await objects(recent, sticky: []).map { ($0.view.message.id, $0) }) { one, _ in one }
    var channels: [PnutChannel] = []
    for own in listed {
      let conversation = own.conversation
      guard let (forum, participants) = try readers(of: conversation) else { continue }
      // Other requests of the event loop have a turn.
      await Task.yield()
      var (hasSticky, position): (Bool?, PnutMarker?) = (nil, nil)
      if isWhole { hasSticky = try await !stickyMessages(of: conversation.id, PageRequest(limit: 1)).items.isEmpty }
      if shows.flag("include_marker", or: false) { position = try marker(of: .channel(conversation.id)) }
      channels.append(
        PnutChannel(
          own: own, forum: forum, owner: owners[forum?.forum.createdBy ?? conversation.createdBy],
          access: ChannelAccess(own, forum, participants, for: caller),
          recent: own.lastMessage.flatMap { messages[$0.message.id] },
          hasSticky: hasSticky, marker: position, shows: shows))
    }
    return channels
  }

  /// The forum of a room, and the participants of another channel; nil for a channel that is not readable any more.
  private func readers(
    of conversation: Conversation
  ) throws(Refusal) -> (forum: ForumView?, participants: [Participant])? {
    do throws(Refusal) {
      if let forum = conversation.forum { return (try view.getForum(forum, for: caller), []) }
      if let participants = conversation.participants { return (nil, participants) }
      let page = PageRequest(limit: IDRange.maxCount)
      return (nil, try view.listParticipants(of: conversation.id, page, for: caller).items)
    } catch {
      guard error == .notFound else { throw error }
      return nil
    }
  }

  /// One channel, with the status of its change.
  func one(_ own: OwnConversation, _ status: Status = .ok) async throws -> Response {
    guard own.conversation.isChannel, let channel = try await channels([own], isWhole: true).first else {
      throw Refusal.notFound
    }
    return .envelope(channel, status)
  }

  /// The channel with this id. Throws `notFound` for any other conversation.
  func channel(_ id: ID<Conversation>) throws -> OwnConversation {
    guard case .forUser(let own) = try view.getConversation(id, for: caller), own.conversation.isChannel else {
      throw Refusal.notFound
    }
    return own
  }
}
