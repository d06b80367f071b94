public import JSON
public import Model

extension AccountReference {
  /// As it stands in a path: `me`, `@ada` or `7`.
  var text: String {
    switch self {
    case .me: "me"
    case .name(let name): "@" + name
    case .id(let id): id.description
    }
  }
}

// What one does with something that was fetched, as thin methods: each is a request.

extension Resource where Value == Person {
  private var reference: AccountReference { .id(value.account.id) }

  public func follow() -> Request<Void> { .follow(reference) }
  public func unfollow() -> Request<Void> { .unfollow(reference) }
  public func mute() -> Request<Void> { .mute(reference) }
  public func unmute() -> Request<Void> { .unmute(reference) }
  public func block() -> Request<Void> { .block(reference) }
  public func unblock() -> Request<Void> { .unblock(reference) }
}

extension Resource where Value == SeenMessage {
  private var id: ID<Message> { value.message.id }

  public func replies(limit: Int? = nil) -> Request<Page<Resource<SeenMessage>>> { .replies(to: id, limit: limit) }
  public func delete() -> Request<Resource<SeenMessage>> { .delete(id) }
  public func act(_ type: String) -> Request<Resource<SeenMessage>> { .act(on: id, type: type) }
  public func takeBack(_ type: String) -> Request<Void> { .takeBack(on: id, type: type) }
  public func edit(_ text: String) -> Request<Resource<SeenMessage>> {
    .edit(id) { json in
      json.field("text", text)
      json.field("if_revision", value.message.revision)
    }
  }
}

extension Resource where Value == SeenForum {
  public func topics(limit: Int? = nil) -> Request<Page<Resource<Topic>>> { .topics(in: value.forum.id, limit: limit) }
}

extension Request where Answer == Resource<SeenMessage> {
  /// Says something under a name of its own, so that sending it again makes no second message.
  public static func post(
    in conversation: ID<Conversation>, clientID: String, _ members: (inout JSONWriter) -> Void
  ) -> Request {
    post(in: conversation) { json in
      json.field("client_id", clientID)
      members(&json)
    }.named(clientID)
  }
}
