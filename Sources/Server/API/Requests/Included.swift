// `include=users,files,messages,conversations`: the users, files, posts and conversations that a response references, each once, as
// the caller may see them.

import Community
import ParleyJSON
import ParleyModel

/// A value of `include`.
enum Include: String, CaseIterable {
  case users, files
  /// The posts of reposts.
  case messages
  /// The conversations of messages and found titles.
  case conversations
}

/// The member `included`.
struct Included: JSONWritable {
  private let users: [User]?
  private let files: [File]?
  private let messages: [MessageView]?
  private let conversations: [ConversationView]?

  /// The size of the posts.
  var size: Int { messages?.reduce(0) { $0 + $1.message.size } ?? 0 }

  /// At most this number of users, and of files. A page has fewer reposts.
  static let maxCount = 500

  init?(
    _ include: Set<Include>, in objects: [some Referencing], _ view: CommunityView, for caller: Caller
  ) throws(Refusal) {
    guard !include.isEmpty else { return nil }
    var references = References()
    for object in objects { object.addReferences(to: &references) }
    if include.contains(.messages) {
      let ids = references.messages.sorted().prefix(MessageQuery.maxMessages)
      let posts = try view.readableMessages(Array(ids), for: caller)
      for post in posts { post.addReferences(to: &references) }
      messages = posts
    } else {
      messages = nil
    }
    if include.contains(.conversations) {
      let ids = references.conversations.sorted().prefix(Self.maxCount)
      let found = try view.readableConversations(Array(ids), for: caller)
      for conversation in found { conversation.addReferences(to: &references) }
      conversations = found
    } else {
      conversations = nil
    }
    let (users, files) = (
      references.users.sorted().prefix(Self.maxCount), references.files.sorted().prefix(Self.maxCount)
    )
    self.users = include.contains(.users) ? try view.visibleUsers(Array(users), for: caller) : nil
    self.files = include.contains(.files) ? try view.readableFiles(Array(files), for: caller) : nil
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      if let users { json.field("users", users) }
      if let files { json.field("files", files) }
      if let messages { json.field("messages", messages) }
      if let conversations { json.field("conversations", conversations) }
    }
  }
}

extension Query {
  /// The values of `include`, separated by commas.
  mutating func include() throws(Refusal) -> Set<Include> {
    Set(try words("include") ?? [])
  }
}

extension RequestContext {
  func included(_ include: Set<Include>, in objects: [some Referencing]) throws(Refusal) -> Included? {
    try Included(include, in: objects, view, for: caller)
  }
}

extension Message: Referencing {
  func addReferences(to references: inout References) {
    references.users.insert(author)
    references.conversations.insert(conversation)
    switch state {
    case .live(let content):
      references.files.formUnion(content.attachments)
      if let edit = content.edit { references.users.insert(edit.by) }
      if let post = content.repostOf { references.messages.insert(post) }
      if let entities = content.entities { references.users.formUnion(Self.mentioned(in: entities)) }
    case .deleted(let tombstone):
      if let user = tombstone.by { references.users.insert(user) }
    }
  }

  static func mentioned(in entities: JSONRaw) -> [ID<User>] {
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

extension MessageView: Referencing {
  func addReferences(to references: inout References) { message.addReferences(to: &references) }
}

extension SearchHit: Referencing {
  func addReferences(to references: inout References) {
    switch subject {
    case .message(let view): view.addReferences(to: &references)
    case .topic(let topic, _): references.conversations.insert(topic)
    }
  }
}

extension NotificationView: Referencing {
  func addReferences(to references: inout References) {
    if let actor = entry.actor { references.users.insert(actor) }
    message?.addReferences(to: &references)
  }
}

extension OwnConversation: Referencing {
  func addReferences(to references: inout References) {
    conversation.addReferences(to: &references)
    lastMessage?.addReferences(to: &references)
  }
}

extension ForumView: Referencing {
  func addReferences(to references: inout References) {
    references.users.insert(forum.createdBy)
    if let topic = activity?.lastTopic { references.users.insert(topic.author) }
  }
}

extension Topic: Referencing {
  func addReferences(to references: inout References) { references.users.insert(createdBy) }
}

extension ListedTopic: Referencing {
  func addReferences(to references: inout References) { references.users.formUnion(authors) }
}

extension Report: Referencing {
  func addReferences(to references: inout References) {
    references.users.formUnion([reporter, user].compactMap(\.self))
    for subject in group?.subjects ?? [] { subject.report.addReferences(to: &references) }
    if let assignee { references.users.insert(assignee) }
    if let handledBy { references.users.insert(handledBy) }
  }
}
