// Parses message texts and resolves their mentions.

import ParleyMarkup
import ParleyModel
import Storage

/// A text and its parsed entities, before names are resolved to users.
struct ParsedText: Sendable {
  let markdown: String
  private let entities: [MarkupEntity]

  static let empty = plain("")

  /// A text without entities.
  static func plain(_ text: String) -> ParsedText { ParsedText(markdown: text, entities: []) }

  var linkCount: Int { entities.count { $0.kind == .link } }
  var links: [String] { entities.filter { $0.kind == .link }.map(\.value) }
  /// The number of distinct users mentioned by name.
  var mentionCount: Int { Set(entities.filter { $0.kind == .mention }.map { UserName.key($0.value) }).count }

  /// The links in a short text that has no other entities, such as the option of a poll.
  static func links(in text: String) -> [String] {
    MarkupDocument(text).entities.filter { $0.kind == .link }.map(\.value)
  }

  /// Texts above this size are parsed in the background, so that they do not block the event loop.
  private static let maxInlineBytes = 8_192

  /// - Parameter canBeEmpty: true if the message may consist of attachments only.
  static func of(_ text: String, _ bounds: Bounds, canBeEmpty: Bool) async throws(Refusal) -> ParsedText {
    try Texts.checkMessage(text, bounds, canBeEmpty: canBeEmpty)
    let entities = text.utf8.count > maxInlineBytes ? await parseInBackground(text) : MarkupDocument(text).entities
    return try of(text, entities, bounds)
  }

  /// Parses the text of a post that was checked before.
  static func again(_ text: String, _ bounds: Bounds) throws(Refusal) -> ParsedText {
    try of(text, MarkupDocument(text).entities, bounds)
  }

  private static func of(_ text: String, _ entities: [MarkupEntity], _ bounds: Bounds) throws(Refusal) -> ParsedText {
    guard entities.count <= bounds.entities else { throw .invalid("text", .tooMany(limit: bounds.entities)) }
    let names = Set(entities.filter { $0.kind == .mention }.map { UserName.key($0.value) })
    guard names.count <= bounds.mentions else { throw .invalid("text", .tooMany(limit: bounds.mentions)) }
    return ParsedText(markdown: text, entities: entities)
  }

  @concurrent private static func parseInBackground(_ text: String) async -> [MarkupEntity] {
    MarkupDocument(text).entities
  }

  /// The names of the hashtags, in their order.
  var hashtags: [String] { entities.filter { $0.kind == .hashtag }.map(\.value) }

  /// Whether the text mentions `@room`.
  var mentionsRoom: Bool { entities.contains { $0.mentionsRoom } }

  /// Names of users and groups, in the form for comparison.
  var mentionedNames: Set<String> {
    Set(entities.filter { $0.kind == .mention && !$0.mentionsRoom }.map { UserName.key($0.value) })
  }

  /// The owner of a mentioned name.
  enum Mentioned {
    /// `reads`: whether they can read the message.
    case user(ID<User>, reads: Bool)
    case group(ID<UserGroup>)
  }

  /// The text as stored. `find` returns the owner of a name. Without `allowsRoomMention`, `@room` is plain text.
  func resolved(
    allowsRoomMention: Bool, _ find: (String) throws(Refusal) -> Mentioned?
  ) throws(Refusal) -> MessageText {
    var text = MessageText(markdown)
    var found = MessageEntities()
    var known: [String: Mentioned?] = [:]
    for entity in entities {
      let span = MessageEntities.Span(position: entity.position, length: entity.length)
      switch entity.kind {
      case .hashtag:
        found.hashtags.append(.init(span, name: entity.value))
        text.hashtags.append(entity.value.lowercased())
      case .link:
        found.links.append(.init(span, url: entity.value))
        text.links.append(entity.value)
      case .mention where entity.mentionsRoom:
        if allowsRoomMention { found.mentions.append(.init(span, name: entity.value, user: nil)) }
      case .mention:
        let key = UserName.key(entity.value)
        let mentioned: Mentioned?
        if let earlier = known[key] { mentioned = earlier } else { mentioned = try find(key) }
        known[key] = .some(mentioned)
        switch mentioned {
        case .user(let user, let reads):
          found.mentions.append(.init(span, name: entity.value, user: user))
          if reads, !text.mentions.contains(user) { text.mentions.append(user) }
        case .group(let group):
          found.mentions.append(.init(span, name: entity.value, user: nil, group: group))
          if !text.groups.contains(group) { text.groups.append(group) }
        case nil: continue
        }
      }
    }
    text.entities = found.stored
    return text
  }
}

extension ReadTransaction {
  /// Resolves mentions to users, and to those of the groups. Users without read access to the conversation are not
  /// mentioned.
  func resolved(
    _ text: ParsedText, in conversation: ID<Conversation>, allowsRoomMention: Bool = false,
    groups: Set<ID<UserGroup>> = []
  ) throws(Refusal) -> MessageText {
    try text.resolved(allowsRoomMention: allowsRoomMention) { name throws(Refusal) in
      guard let user = try user(called: name) else {
        guard !groups.isEmpty, let group = try userGroup(named: name)?.id, groups.contains(group) else { return nil }
        return .group(group)
      }
      guard let standing = try standing(of: user.id, in: conversation) else { return .user(user.id, reads: false) }
      return .user(user.id, reads: Permissions.rights(of: user.role, in: standing).contains(.read))
    }
  }
}

extension WriteTransaction {
  /// Resolves the text of a new message. `@room` and the names of groups are plain text unless the caller may notify
  /// them.
  func resolvedForPosting(
    _ text: ParsedText, in conversation: ID<Conversation>, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> MessageText {
    let groups = try groupsToMention(in: text, in: conversation, by: caller, bounds)
    guard text.mentionsRoom, let forum = try forum(of: conversation), try mayMentionRoom(forum, for: caller) else {
      return try resolved(text, in: conversation, groups: groups)
    }
    var resolved = try resolved(text, in: conversation, allowsRoomMention: true, groups: groups)
    resolved.callsRoom = true
    return resolved
  }
}

extension MarkupEntity {
  fileprivate var mentionsRoom: Bool {
    kind == .mention && UserName.key(value) == MessageEntities.Mention.room
  }
}
