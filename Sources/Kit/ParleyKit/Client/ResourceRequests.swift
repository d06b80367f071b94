public import ParleyModel

// Requests on fetched resources, as methods.

extension Resource where Value == User {
  private var reference: UserReference { .id(value.summary.id) }

  public func follow() -> Request<Void> { .followUser(reference) }
  public func unfollow() -> Request<Void> { .unfollowUser(reference) }
  public func mute() -> Request<Void> { .muteUser(reference) }
  public func unmute() -> Request<Void> { .unmuteUser(reference) }
  public func block() -> Request<Void> { .blockUser(reference) }
  public func unblock() -> Request<Void> { .unblockUser(reference) }
  public func followers(limit: Int? = nil) -> Request<Page<Resource<User>>> {
    .listFollowers(of: reference, limit: limit)
  }
  public func following(limit: Int? = nil) -> Request<Page<Resource<User>>> {
    .listFollowing(of: reference, limit: limit)
  }
  public func feed() -> Request<Resource<Conversation>> { .getFeed(of: reference) }
  public func avatar() -> Request<RawResponse> { .getAvatar(of: reference) }
  public func refresh() -> Request<Resource<User>> { .getUser(reference) }
}

extension Resource where Value == MessageView {
  private var id: ID<Message> { value.message.id }

  public func replies(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> { .listReplies(to: id, limit: limit) }
  public func revisions(limit: Int? = nil) -> Request<Page<Resource<MessageRevision>>> {
    .listRevisions(of: id, limit: limit)
  }
  public func receipts() -> Request<Page<Resource<MessageReceipt>>> { .listReceipts(of: id) }
  public func actions(_ type: String? = nil, limit: Int? = nil) -> Request<Page<Resource<MessageAction>>> {
    .listActions(on: id, type: type, limit: limit)
  }
  public func delete() -> Request<Resource<MessageView>> { .deleteMessage(id) }
  public func setAction(_ type: String) -> Request<Resource<MessageView>> { .setAction(on: id, type: type) }
  public func removeAction(_ type: String) -> Request<Void> { .removeAction(on: id, type: type) }
  public func edit(_ text: String) -> Request<Resource<MessageView>> {
    .editMessage(id, text: text, ifRevision: value.message.revision)
  }
  public func markRead() -> Request<Resource<ReadConversation>> {
    .markRead(value.message.conversation, upTo: id)
  }
  public func refresh() -> Request<Resource<MessageView>> { .getMessage(id) }
}

extension Resource where Value == ForumView {
  private var id: ID<Forum> { value.forum.id }

  public func topics(tag: String? = nil, limit: Int? = nil) -> Request<Page<Resource<Topic>>> {
    .listTopics(in: id, tag: tag, limit: limit)
  }
  public func tags() -> Request<Page<Resource<ForumTag>>> { .listForumTags(of: id) }
  public func createTopic(_ title: String) -> Request<Resource<Topic>> {
    .createTopic(in: id, title: title)
  }
  public func members(limit: Int? = nil) -> Request<Page<Resource<ForumMember>>> {
    .listForumMembers(of: id, limit: limit)
  }
  public func join() -> Request<Resource<ForumMember>> { .setForumMember(of: id, to: .me) }
  public func leave() -> Request<Void> { .removeForumMember(of: id, user: .me) }
  /// The messages of its room.
  public func messages(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> {
    .listMessages(in: value.forum.room, limit: limit)
  }
  public func refresh() -> Request<Resource<ForumView>> { .getForum(id) }
}

extension Resource where Value == OwnConversation {
  private var id: ID<Conversation> { value.conversation.id }

  public func messages(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> {
    .listMessages(in: id, limit: limit)
  }
  public func participants(limit: Int? = nil) -> Request<Page<Resource<Participant>>> {
    .listParticipants(of: id, limit: limit)
  }
  public func sendTyping() -> Request<Void> { .sendTyping(in: id) }
  public func leave() -> Request<Void> { .removeParticipant(of: id, user: .me) }
  public func delete() -> Request<Void> { .deleteConversation(id) }
}

extension Resource where Value == Conversation {
  public func messages(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> {
    .listMessages(in: value.id, limit: limit)
  }
  public func participants(limit: Int? = nil) -> Request<Page<Resource<Participant>>> {
    .listParticipants(of: value.id, limit: limit)
  }
  /// Joins an open conversation.
  public func join() -> Request<Resource<Participant>> { .setParticipant(of: value.id, to: .me) }
  public func leave() -> Request<Void> { .removeParticipant(of: value.id, user: .me) }
}

extension String {
  /// A mention in a text: `@ada`.
  public var asMention: String { hasPrefix("@") ? self : "@" + self }
  /// A hashtag in a text: `#food`.
  public var asHashtag: String { hasPrefix("#") ? self : "#" + self }
}
