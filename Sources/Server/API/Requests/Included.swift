// `include=users,files`: the users and files that a list names, each once, as the caller may see them.

import Community
import ParleyJSON
import ParleyModel

/// A value of `include`.
enum Include: String, CaseIterable {
  case users, files
}

/// The ids of the users and files that things of a list name.
struct NamedThings {
  var users: Set<ID<User>> = []
  var files: Set<ID<File>> = []
}

protocol NamesThings {
  func addNames(to named: inout NamedThings)
}

/// The member `included`.
struct Included: JSONWritable {
  private let users: [User]?
  private let files: [File]?

  /// At most this number of users, and of files.
  static let maxCount = 500

  init?(
    _ include: Set<Include>, in things: [some NamesThings], _ view: CommunityView, for caller: Caller
  ) throws(Refusal) {
    guard !include.isEmpty else { return nil }
    var named = NamedThings()
    for thing in things { thing.addNames(to: &named) }
    let (users, files) = (named.users.sorted().prefix(Self.maxCount), named.files.sorted().prefix(Self.maxCount))
    self.users = include.contains(.users) ? try view.visibleUsers(Array(users), for: caller) : nil
    self.files = include.contains(.files) ? try view.readableFiles(Array(files), for: caller) : nil
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      if let users { json.field("users", users) }
      if let files { json.field("files", files) }
    }
  }
}

extension Query {
  /// The values of `include`, separated by commas.
  mutating func include() throws(Refusal) -> Set<Include> {
    var include: Set<Include> = []
    for word in try text("include")?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      guard let one = Include(rawValue: String(word)) else { throw .invalid("include", .invalid) }
      include.insert(one)
    }
    return include
  }
}

extension RequestContext {
  func included(_ include: Set<Include>, in things: [some NamesThings]) throws(Refusal) -> Included? {
    try Included(include, in: things, view, for: caller)
  }
}

// MARK: Names

extension Message: NamesThings {
  func addNames(to named: inout NamedThings) {
    named.users.insert(author)
    switch state {
    case .live(let content):
      named.files.formUnion(content.attachments)
      if let edit = content.edit { named.users.insert(edit.by) }
      if let entities = content.entities { named.users.formUnion(Self.mentioned(in: entities)) }
    case .deleted(let tombstone):
      if let user = tombstone.by { named.users.insert(user) }
    }
  }

  private static func mentioned(in entities: JSONRaw) -> [ID<User>] {
    do throws(JSONError) {
      var users: [ID<User>] = []
      var object = try JSONValue(parsing: entities.bytes).object()
      for mention in try object.value("mentions").array() {
        var mention = try mention.object()
        if let user: ID<User> = try mention.optional("user_id") { users.append(user) }
      }
      return users
    } catch {
      // Stored by the server; the list itself has the text.
      return []
    }
  }
}

extension MessageView: NamesThings {
  func addNames(to named: inout NamedThings) { message.addNames(to: &named) }
}

extension SearchHit: NamesThings {
  func addNames(to named: inout NamedThings) {
    if case .message(let view) = subject { view.addNames(to: &named) }
  }
}

extension NotificationView: NamesThings {
  func addNames(to named: inout NamedThings) {
    if let actor = entry.actor { named.users.insert(actor) }
    message?.addNames(to: &named)
  }
}

extension OwnConversation: NamesThings {
  func addNames(to named: inout NamedThings) {
    named.users.insert(conversation.createdBy)
    if let owner = conversation.owner { named.users.insert(owner) }
    named.users.formUnion(conversation.participants?.map(\.user) ?? [])
    lastMessage?.addNames(to: &named)
  }
}

extension Topic: NamesThings {
  func addNames(to named: inout NamedThings) { named.users.insert(createdBy) }
}

extension ListedTopic: NamesThings {
  func addNames(to named: inout NamedThings) { topic.addNames(to: &named) }
}

extension Report: NamesThings {
  func addNames(to named: inout NamedThings) {
    named.users.formUnion([reporter, user])
    if let assignee { named.users.insert(assignee) }
    if let handledBy { named.users.insert(handledBy) }
  }
}
