// Texts of messages: what is found in them, and whom they call.

import ParleyMarkup
import ParleyModel
import Storage

/// A text and what was found in it, before anybody asked who is meant.
struct ReadText: Sendable {
  let markdown: String
  private let entities: [MarkupEntity]

  var linkCount: Int { entities.count { $0.kind == .link } }
  /// How many people it calls by name.
  var mentionCount: Int { Set(entities.filter { $0.kind == .mention }.map { AccountName.key($0.value) }).count }

  /// Of a text that takes longer to read than a loop should be held up.
  private static let longBytes = 8_192

  /// - Parameter canBeEmpty: where something else says something.
  static func of(_ text: String, _ bounds: Bounds, canBeEmpty: Bool) async throws(Refusal) -> ReadText {
    let least = canBeEmpty ? 0 : 1
    let text = try Texts.block(text, "text", scalars: bounds.messageScalars, least: least)
    let entities = text.utf8.count > longBytes ? await readAside(text) : MarkupDocument(text).entities
    guard entities.count <= bounds.entities else { throw .invalid("text", .tooMany(limit: bounds.entities)) }
    let names = Set(entities.filter { $0.kind == .mention }.map { AccountName.key($0.value) })
    guard names.count <= bounds.mentions else { throw .invalid("text", .tooMany(limit: bounds.mentions)) }
    return ReadText(markdown: text, entities: entities)
  }

  @concurrent private static func readAside(_ text: String) async -> [MarkupEntity] { MarkupDocument(text).entities }

  /// Whether it would call everyone in a forum.
  var namesRoom: Bool { entities.contains { $0.namesRoom } }

  /// As it is stored. `find` says who a name is, and whether they may read what calls them; `isRoomNamed`, whether
  /// `@room` is more than plain text.
  func resolved(
    isRoomNamed: Bool, _ find: (String) throws(Refusal) -> (id: ID<Account>, reads: Bool)?
  ) throws(Refusal) -> MessageText {
    var text = MessageText(markdown)
    var found = MessageEntities()
    var people: [String: (id: ID<Account>, reads: Bool)?] = [:]
    for entity in entities {
      let span = MessageEntities.Span(position: entity.position, length: entity.length)
      switch entity.kind {
      case .hashtag:
        found.hashtags.append(.init(span, name: entity.value))
        text.hashtags.append(entity.value.lowercased())
      case .link:
        found.links.append(.init(span, url: entity.value))
        text.links.append(entity.value)
      case .mention where entity.namesRoom:
        if isRoomNamed { found.mentions.append(.init(span, name: entity.value, user: nil)) }
      case .mention:
        let key = AccountName.key(entity.value)
        let person: (id: ID<Account>, reads: Bool)?
        if let known = people[key] { person = known } else { person = try find(key) }
        people[key] = .some(person)
        guard let person else { continue }
        found.mentions.append(.init(span, name: entity.value, user: person.id))
        if person.reads, !text.mentions.contains(person.id) { text.mentions.append(person.id) }
      }
    }
    text.entities = found.stored
    return text
  }
}

extension ReadTransaction {
  /// A text with those whom it calls. Who can't read the conversation is not called.
  func resolved(
    _ text: ReadText, in conversation: ID<Conversation>, isRoomNamed: Bool = false
  ) throws(Refusal) -> MessageText {
    try text.resolved(isRoomNamed: isRoomNamed) { name throws(Refusal) in
      guard let person = try person(called: name) else { return nil }
      guard let standing = try standing(of: person.id, in: conversation) else { return (person.id, false) }
      return (person.id, Permissions.rights(of: person.role, in: standing).contains(.read))
    }
  }
}

extension WriteTransaction {
  /// The text of a message that is about to be stored. `@room` calls everyone where it rings; elsewhere it is plain text.
  func called(_ text: ReadText, in conversation: ID<Conversation>, by caller: Caller) throws(Refusal) -> MessageText {
    guard text.namesRoom, let forum = try forum(of: conversation), try rings(forum, for: caller) else {
      return try resolved(text, in: conversation)
    }
    var called = try resolved(text, in: conversation, isRoomNamed: true)
    called.callsRoom = true
    return called
  }
}

extension MarkupEntity {
  fileprivate var namesRoom: Bool {
    kind == .mention && AccountName.key(value) == MessageEntities.Mention.room
  }
}

/// Turns texts into HTML.
enum Rendering {
  /// As much of it as a loop does by itself.
  private static let shortBytes = 8_192

  static func html(of texts: [String?]) async -> [String?] {
    let bytes = texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    return bytes > shortBytes ? await renderAside(texts) : texts.map { $0.map { MarkupDocument($0).html } }
  }

  @concurrent private static func renderAside(_ texts: [String?]) async -> [String?] {
    texts.map { $0.map { MarkupDocument($0).html } }
  }
}
