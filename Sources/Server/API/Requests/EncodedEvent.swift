// The users, files and posts of events, found in their JSON: a catch-up page has the encoded events alone, and its content must be
// that of `included`.

import ParleyJSON
import ParleyModel

/// Encoded event.
struct EncodedEvent: Referencing, JSONWritable {
  let text: [UInt8]

  /// The members that name a user, in the envelope and in the data of all kinds of events.
  private static let userMembers = [
    "actor_id", "author_id", "user_id", "created_by", "edited_by", "deleted_by", "owner_id", "bot_id",
  ]

  func write(to json: inout JSONWriter) { json.value(JSONRaw(trusted: text)) }

  func addReferences(to references: inout References) {
    do throws(JSONError) {
      var event = try JSONValue(parsing: text).object()
      try Self.add(&event, to: &references)
      guard let data = event.member("data"), data.kind == .object else { return }
      var object = try data.object()
      try Self.add(&object, to: &references)
      for file in try object.optional("attachments", { value throws(JSONError) in try value.array() }) ?? [] {
        references.files.insert(try ID(json: file))
      }
      if let id: ID<Conversation> = try object.optional("conversation_id") { references.conversations.insert(id) }
      if let post: ID<Message> = try object.optional("repost_of") { references.messages.insert(post) }
      for participant in try object.optional("participants", { value throws(JSONError) in try value.array() }) ?? [] {
        var participant = try participant.object()
        try Self.add(&participant, to: &references)
      }
      if let entities = object.member("entities") { references.users.formUnion(Message.mentioned(in: entities.raw)) }
    } catch {
      // Encoded by the server; the list itself has the text.
    }
  }

  private static func add(_ object: inout JSONObject, to references: inout References) throws(JSONError) {
    for name in userMembers {
      if let user: ID<User> = try object.optional(name) { references.users.insert(user) }
    }
  }
}
