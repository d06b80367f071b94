public import ParleyModel

// Requests on fetched resources, as methods.

extension Resource where Value == User {
  private var reference: UserReference { .id(value.summary.id) }

  /// Follows the user.
  public func follow() -> Request<Void> { .followUser(reference) }
  /// Ends following the user.
  public func unfollow() -> Request<Void> { .unfollowUser(reference) }
  /// Hides the user's messages from the caller.
  public func mute() -> Request<Void> { .muteUser(reference) }
  /// Shows the user's messages again.
  public func unmute() -> Request<Void> { .unmuteUser(reference) }
  /// Keeps the user from writing to the caller.
  public func block() -> Request<Void> { .blockUser(reference) }
  /// Lets the user write to the caller again.
  public func unblock() -> Request<Void> { .unblockUser(reference) }
  /// Users that follow this one.
  public func followers(limit: Int? = nil) -> Request<Page<Resource<User>>> {
    .listFollowers(of: reference, limit: limit)
  }
  /// Users that this one follows.
  public func following(limit: Int? = nil) -> Request<Page<Resource<User>>> {
    .listFollowing(of: reference, limit: limit)
  }
  /// The user's feed.
  public func feed() -> Request<Resource<Conversation>> { .getFeed(of: reference) }
  /// The user's picture.
  public func avatar() -> Request<RawResponse> { .getAvatar(of: reference) }
  /// The user as it is now.
  public func refresh() -> Request<Resource<User>> { .getUser(reference) }
}

extension Resource where Value == MessageView {
  private var id: ID<Message> { value.message.id }

  /// Replies to the message.
  public func replies(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> { .listReplies(to: id, limit: limit) }
  /// The earlier texts of the message.
  public func revisions(limit: Int? = nil) -> Request<Page<Resource<MessageRevision>>> {
    .listRevisions(of: id, limit: limit)
  }
  /// Users that have received or read the message.
  public func receipts() -> Request<Page<Resource<MessageReceipt>>> { .listReceipts(of: id) }
  /// Public actions on the message, such as likes.
  public func actions(_ type: String? = nil, limit: Int? = nil) -> Request<Page<Resource<MessageAction>>> {
    .listActions(on: id, type: type, limit: limit)
  }
  /// Deletes the caller's own message for good.
  public func delete() -> Request<Resource<MessageView>> { .deleteMessage(id) }
  /// Sets an action of the caller, such as `.like`; on a repost, that of its post.
  public func setAction(_ type: ActionType) -> Request<Resource<MessageView>> {
    .setAction(on: value.message.post, type: type)
  }
  /// Removes an action of the caller; on a repost, that of its post.
  public func removeAction(_ type: ActionType) -> Request<Void> { .removeAction(on: value.message.post, type: type) }
  /// Replaces the text of the caller's own message.
  public func edit(_ text: String) -> Request<Resource<MessageView>> {
    .editMessage(id, text: text, ifRevision: value.message.revision)
  }
  /// Moves the caller's read position to the message.
  public func markRead() -> Request<Resource<ReadConversation>> {
    .markRead(value.message.conversation, upTo: id)
  }
  /// The message as it is now.
  public func refresh() -> Request<Resource<MessageView>> { .getMessage(id) }
}

extension Resource where Value == ForumView {
  private var id: ID<Forum> { value.forum.id }

  /// Topics of the forum, the most active first.
  public func topics(tag: String? = nil, limit: Int? = nil) -> Request<Page<Resource<Topic>>> {
    .listTopics(in: id, tag: tag, limit: limit)
  }
  /// The most used tags of the forum.
  public func tags() -> Request<Page<Resource<ForumTag>>> { .listForumTags(of: id) }
  /// Starts a topic without a first message.
  public func createTopic(_ title: String) -> Request<Resource<Topic>> {
    .createTopic(in: id, title: title)
  }
  /// Members of the forum.
  public func members(limit: Int? = nil) -> Request<Page<Resource<ForumMember>>> {
    .listForumMembers(of: id, limit: limit)
  }
  /// Makes the caller a member.
  public func join() -> Request<Resource<ForumMember>> { .setForumMember(of: id, to: .me) }
  /// Ends the caller's membership.
  public func leave() -> Request<Void> { .removeForumMember(of: id, user: .me) }
  /// The messages of its room.
  public func messages(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> {
    .listMessages(in: value.forum.room, limit: limit)
  }
  /// The forum as it is now.
  public func refresh() -> Request<Resource<ForumView>> { .getForum(id) }
}

extension Resource where Value == OwnConversation {
  private var id: ID<Conversation> { value.conversation.id }

  /// The newest messages of the conversation.
  public func messages(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> {
    .listMessages(in: id, limit: limit)
  }
  /// Participants of the conversation.
  public func participants(limit: Int? = nil) -> Request<Page<Resource<Participant>>> {
    .listParticipants(of: id, limit: limit)
  }
  /// Shows the others that the caller is typing.
  public func sendTyping() -> Request<Void> { .sendTyping(in: id) }
  /// Ends the caller's participation.
  public func leave() -> Request<Void> { .removeParticipant(of: id, user: .me) }
  /// Deletes the conversation for all.
  public func delete() -> Request<Void> { .deleteConversation(id) }
}

extension Resource where Value == Conversation {
  /// The newest messages of the conversation.
  public func messages(limit: Int? = nil) -> Request<Page<Resource<MessageView>>> {
    .listMessages(in: value.id, limit: limit)
  }
  /// Participants of the conversation.
  public func participants(limit: Int? = nil) -> Request<Page<Resource<Participant>>> {
    .listParticipants(of: value.id, limit: limit)
  }
  /// Joins an open conversation.
  public func join() -> Request<Resource<Participant>> { .setParticipant(of: value.id, to: .me) }
  /// Ends the caller's participation.
  public func leave() -> Request<Void> { .removeParticipant(of: value.id, user: .me) }
}

extension String {
  /// A mention in a text: `@ada`.
  public var asMention: String { hasPrefix("@") ? self : "@" + self }
  /// A hashtag in a text: `#food`.
  public var asHashtag: String { hasPrefix("#") ? self : "#" + self }
}
