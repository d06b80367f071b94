// Determines the recipients of a message's notifications, in the transaction that stores the message.

import ParleyModel
import Storage

/// Why a message notifies a user.
enum NotificationCause: String, Sendable, Hashable {
  case mention, reply
  /// A direct message.
  case direct
  /// A mention of `@room`.
  case room
}

/// The recipients of a message's notifications.
struct NotificationRecipients: Sendable, Hashable {
  struct Recipient: Sendable, Hashable {
    let candidate: NotificationCandidate
    let cause: NotificationCause
  }

  /// Recipients notified individually, without duplicates: at most `Bounds.mentions` and two more.
  var users: [Recipient] = []
  /// The forum whose members are all notified by `@room`. They are read in chunks by `roomMentionRecipients` and may include
  /// some of `users`.
  var forum: ID<Forum>?
  /// Groups whose members are notified, as mentioned, in chunks. They may include some of `users`.
  var groups: [ID<UserGroup>] = []

  fileprivate func includes(_ user: ID<User>) -> Bool { users.contains { $0.candidate.user == user } }

  /// Adds a user whose level allows it; at most once.
  fileprivate mutating func add(_ candidate: NotificationCandidate, _ cause: NotificationCause) {
    guard !includes(candidate.user) else { return }
    switch (candidate.level, cause) {
    case (.everything, _), (.mentions, .mention), (.mentions, .reply), (.mentions, .room):
      users.append(Recipient(candidate: candidate, cause: cause))
    case (.mentions, .direct), (.nothing, _): break
    }
  }
}

extension ReadTransaction {
  /// The recipients of a new message. A user who is mentioned and replied to is notified once, as mentioned. Excluded
  /// are the author, recipients who muted or blocked the author, who can't read the message or whose level suppresses
  /// it.
  func recipients(
    of message: NewMessage, in kind: Conversation.Kind
  ) throws(Refusal) -> NotificationRecipients {
    var recipients = NotificationRecipients()
    guard message.kind == .message, !message.isMachineOnly else { return recipients }
    if message.text.callsRoom { recipients.forum = try forum(of: message.conversation) }
    recipients.groups = message.text.groups
    // Read access was checked when the mentions were resolved.
    for user in message.text.mentions { try add(user, .mention, of: message, to: &recipients) }
    if let answered = try message.replyTo.flatMap({ id throws(Refusal) in try author(of: id) }),
      try mayRead(answered, message.conversation)
    {
      try add(answered, .reply, of: message, to: &recipients)
    }
    if kind == .direct, let other = try directCandidate(from: message.author, in: message.conversation) {
      recipients.add(other, .direct)
    }
    return recipients
  }

  private func add(
    _ user: ID<User>, _ cause: NotificationCause, of message: NewMessage, to recipients: inout NotificationRecipients
  ) throws(Refusal) {
    guard user != message.author, !recipients.includes(user),
      let candidate = try notificationCandidate(user, from: message.author, in: message.conversation)
    else { return }
    recipients.add(candidate, cause)
  }

  /// Whether a message is in the history of a user.
  func mayRead(_ user: ID<User>, _ message: MessagePosition) throws(Refusal) -> Bool {
    guard let role = try self.user(user)?.summary.role,
      let standing = try standing(of: user, in: message.conversation),
      Permissions.rights(of: role, in: standing).contains(.read)
    else { return false }
    return message.seq >= Permissions.fromSeq(of: role, in: standing)
  }

  func mayRead(_ user: ID<User>, _ conversation: ID<Conversation>) throws(Refusal) -> Bool {
    guard let role = try self.user(user)?.summary.role, let standing = try standing(of: user, in: conversation)
    else { return false }
    return Permissions.rights(of: role, in: standing).contains(.read)
  }
}
