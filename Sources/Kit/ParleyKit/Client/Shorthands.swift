public import ParleyModel

// What one does with something that was fetched, as thin methods: each is a request.

extension Resource where Value == Person {
  private var reference: AccountReference { .id(value.account.id) }

  public func follow() -> Request<Void> { .follow(reference) }
  public func unfollow() -> Request<Void> { .unfollow(reference) }
  public func mute() -> Request<Void> { .mute(reference) }
  public func unmute() -> Request<Void> { .unmute(reference) }
  public func block() -> Request<Void> { .block(reference) }
  public func unblock() -> Request<Void> { .unblock(reference) }
  public func followers(limit: Int? = nil) -> Request<Page<Resource<Person>>> {
    .followers(of: reference, limit: limit)
  }
  public func following(limit: Int? = nil) -> Request<Page<Resource<Person>>> {
    .following(of: reference, limit: limit)
  }
  /// What they post for those who follow them.
  public func feed() -> Request<Resource<Conversation>> { .feed(of: reference) }
  public func avatar() -> Request<Reply> { .avatar(of: reference) }
  public func refresh() -> Request<Resource<Person>> { .person(reference) }
}

extension Resource where Value == SeenMessage {
  private var id: ID<Message> { value.message.id }

  public func replies(limit: Int? = nil) -> Request<Page<Resource<SeenMessage>>> { .replies(to: id, limit: limit) }
  public func revisions(limit: Int? = nil) -> Request<Page<Resource<MessageRevision>>> {
    .revisions(of: id, limit: limit)
  }
  public func receipts() -> Request<Page<Resource<MessageReceipt>>> { .receipts(of: id) }
  public func actions(_ type: String? = nil, limit: Int? = nil) -> Request<Page<Resource<MessageAction>>> {
    .actions(on: id, type: type, limit: limit)
  }
  public func delete() -> Request<Resource<SeenMessage>> { .delete(id) }
  public func act(_ type: String) -> Request<Resource<SeenMessage>> { .act(on: id, type: type) }
  public func takeBack(_ type: String) -> Request<Void> { .takeBack(on: id, type: type) }
  public func edit(_ text: String) -> Request<Resource<SeenMessage>> {
    .edit(id, text: text, ifRevision: value.message.revision)
  }
  /// Everything up to it is read.
  public func markRead() -> Request<Resource<MarkedConversation>> {
    .markRead(value.message.conversation, upTo: id)
  }
  public func refresh() -> Request<Resource<SeenMessage>> { .message(id) }
}

extension Resource where Value == SeenForum {
  private var id: ID<Forum> { value.forum.id }

  public func topics(limit: Int? = nil) -> Request<Page<Resource<Topic>>> { .topics(in: id, limit: limit) }
  public func createTopic(_ title: String) -> Request<Resource<Topic>> {
    .createTopic(in: id, title: title)
  }
  public func members(limit: Int? = nil) -> Request<Page<Resource<ForumMember>>> { .members(of: id, limit: limit) }
  public func join() -> Request<Resource<ForumMember>> { .setMember(of: id, to: .me) }
  public func leave() -> Request<Void> { .removeMember(of: id, person: .me) }
  /// Of its room.
  public func messages(limit: Int? = nil) -> Request<Page<Resource<SeenMessage>>> {
    .messages(in: value.forum.room, limit: limit)
  }
  public func refresh() -> Request<Resource<SeenForum>> { .forum(id) }
}

extension Resource where Value == OwnConversation {
  private var id: ID<Conversation> { value.conversation.id }

  public func messages(limit: Int? = nil) -> Request<Page<Resource<SeenMessage>>> { .messages(in: id, limit: limit) }
  public func participants(limit: Int? = nil) -> Request<Page<Resource<Participant>>> {
    .participants(of: id, limit: limit)
  }
  public func typing() -> Request<Void> { .typing(in: id) }
  public func leave() -> Request<Void> { .removeParticipant(of: id, person: .me) }
  public func delete() -> Request<Void> { .deleteConversation(id) }
}

extension Resource where Value == Conversation {
  public func messages(limit: Int? = nil) -> Request<Page<Resource<SeenMessage>>> {
    .messages(in: value.id, limit: limit)
  }
  public func participants(limit: Int? = nil) -> Request<Page<Resource<Participant>>> {
    .participants(of: value.id, limit: limit)
  }
  /// Takes part in one that is open.
  public func join() -> Request<Resource<Participant>> { .setParticipant(of: value.id, to: .me) }
  public func leave() -> Request<Void> { .removeParticipant(of: value.id, person: .me) }
}

extension String {
  /// A name as it stands in a text: `@ada`.
  public var asMention: String { hasPrefix("@") ? self : "@" + self }
  /// A tag as it stands in a text: `#food`.
  public var asHashtag: String { hasPrefix("#") ? self : "#" + self }
}
