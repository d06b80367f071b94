/// A client's copy of a conversation and its cached messages.
public struct ReplicaConversation: Sendable, Hashable {
  /// The conversation as all its readers see it.
  public internal(set) var conversation: Conversation
  /// Nil for non-participants.
  public internal(set) var participation: OwnConversation.Participation?
  /// Whether the user participates, or owns the feed. A read-only conversation has no unread count.
  public internal(set) var isOwn = false
  /// The user's read position, by `seq`.
  public internal(set) var readPosition = ReadPosition()
  /// Nil while the count must be fetched.
  public internal(set) var unread: Int? = 0
  /// The messages in memory by `seq`.
  public internal(set) var messages: [Int: ReplicaMessage] = [:]
  /// Read positions of other users.
  public internal(set) var receipts: [ID<User>: ReadPosition] = [:]
  var seqs: [ID<Message>: Int] = [:]
  /// Fields without a revision include this event at least, and exactly this offset of the stream.
  var asOf: Int
  var asOfOffset = 0

  init(_ conversation: Conversation, asOf: Int) {
    self.conversation = conversation
    self.asOf = asOf
  }

  /// The last message of the conversation; nil if it is not in memory.
  public var lastMessage: Message? { messages[conversation.lastSeq]?.message }

  /// The last `seq` that counts as read: the read position, or messages from before the user joined.
  var unreadAfter: Int {
    ConversationHead.unreadStart(
      readSeq: readPosition.readSeq, joinedSeq: participation?.joinedSeq ?? 0, fromSeq: participation?.fromSeq ?? 1)
  }
}

/// A message, the user's own actions on it, and the user's vote in its poll. The poll has the age of the actions.
public struct ReplicaMessage: Sendable, Hashable {
  /// The message as all its readers see it.
  public internal(set) var message: Message
  /// The user's own actions; nil if unknown.
  public internal(set) var mine: Set<String>?
  /// Options that the user has chosen in the poll.
  public internal(set) var vote: [Int] = []
  /// The revision includes all events up to this one; 0 if unknown.
  public internal(set) var asOf: Int
  /// The last response with all actions, the user's own included, includes all events up to this one; 0 if unknown. A
  /// revision does not date the actions, and an event never has all of them.
  public internal(set) var actionsAsOf: Int
  /// The last event about its actions. An older response does not replace them.
  public internal(set) var lastActionEvent = 0

  init(message: Message, mine: Set<String>?, asOf: Int, actionsAsOf: Int) {
    self.message = message
    self.mine = mine
    self.asOf = asOf
    self.actionsAsOf = actionsAsOf
  }
}

extension ReplicaConversation {
  /// Whether an event is newer than the fields without a revision.
  func isOlder(than event: ReceivedEvent) -> Bool {
    event.stream == .conversation(conversation.id) ? event.offset > asOfOffset : event.id > asOf
  }

  mutating func keepMessages(of other: ReplicaConversation) {
    messages = other.messages
    seqs = other.seqs
  }

  mutating func gain(_ gained: GainedConversation) {
    participation = gained.participation
    isOwn = true
    readPosition = gained.readPosition
    unread = conversation.lastSeq <= unreadAfter ? 0 : nil
    // Messages before the user's history are hidden.
    if conversation.lastSeq < gained.participation?.fromSeq ?? 1 { conversation.lastMessage = nil }
  }

  mutating func apply(_ new: Conversation, _ event: ReceivedEvent) {
    let old = conversation
    if new.revision > old.revision { conversation = new }
    if isOlder(than: event) {
      conversation.participants = new.participants ?? old.participants
      conversation.participantCount = new.participantCount ?? old.participantCount
    }
    // `lastSeq` and `lastMessage` only move forward.
    conversation.lastSeq = max(old.lastSeq, new.lastSeq)
    let isNewer = new.lastSeq > old.lastSeq && new.lastSeq >= participation?.fromSeq ?? 1
    conversation.lastMessage = isNewer ? new.lastMessage : old.lastMessage
  }

  mutating func set(_ role: ParticipantRole?, of user: ID<User>, me: ID<User>?) {
    if user == me, let role { participation?.role = role }
    if role == nil { receipts[user] = nil }
    guard !conversation.kind.isInForum else { return }
    guard var list = conversation.participants else { return }
    let before = list.count
    list.removeAll { $0.user == user }
    if let role { list.append(Participant(user, role)) }
    list.sort { $0.user < $1.user }
    conversation.participantCount = (conversation.participantCount ?? before) + list.count - before
    conversation.participants = list.count <= Conversation.maxListed ? list : nil
  }

  // MARK: Messages

  mutating func apply(_ message: Message, _ kind: Event.Kind, _ event: ReceivedEvent, for recipient: Recipient) {
    let known = self.known(message)
    let isNewer = isOlder(than: event)
    if isNewer { count(message, before: known?.message, kind, for: recipient) }
    // A created message that was not cached has no own actions, unless it is old.
    let isNew = kind == .messageCreated
    let hasMine = isNew && !message.mayHaveOwnActions
    var new =
      known ?? ReplicaMessage(message: message, mine: hasMine ? [] : nil, asOf: 0, actionsAsOf: isNew ? event.id : 0)
    let content = new.message.content
    if message.revision > new.message.revision {
      new.message = message
    } else if event.id > new.asOf, message.revision == new.message.revision {
      new.message.state = message.state
    }
    if event.id <= new.actionsAsOf, let content { new.message.setActions(content.actions, poll: content.poll) }
    new.asOf = max(new.asOf, event.id)
    put(new)
    // The row includes the event, but a count of the cached messages did not.
    if !isNewer, let known, isUnread(known.message, for: recipient) != isUnread(new.message, for: recipient) {
      recount(for: recipient)
    }
    guard message.seq > conversation.lastSeq else { return }
    conversation.lastSeq = message.seq
    conversation.lastMessage = message.id
  }

  /// The cached copy of the same message; nil if the server has lost the one that had its `seq`.
  private func known(_ message: Message) -> ReplicaMessage? {
    guard let known = messages[message.seq], known.message.isSame(as: message) else { return nil }
    return known
  }

  private mutating func put(_ known: ReplicaMessage) {
    let message = known.message
    if let other = messages[message.seq]?.message.id, other != message.id { seqs[other] = nil }
    messages[message.seq] = known
    seqs[message.id] = message.seq
  }

  /// - Returns: whether the message is cached and no newer response has its actions.
  mutating func apply(_ actions: [Message.ActionCount], on message: ID<Message>, _ event: Int) -> Bool {
    guard let seq = seqs[message], let known = messages[seq], known.message.content != nil, event > known.actionsAsOf
    else { return false }
    messages[seq]?.message.setActions(actions, poll: known.message.content?.poll)
    messages[seq]?.lastActionEvent = max(event, known.lastActionEvent)
    return true
  }

  mutating func setStar(_ isSet: Bool, on message: ID<Message>, _ event: Int) {
    guard let seq = seqs[message], let known = messages[seq], event > known.actionsAsOf else { return }
    if isSet { messages[seq]?.mine?.insert("star") } else { messages[seq]?.mine?.remove("star") }
    messages[seq]?.lastActionEvent = max(event, known.lastActionEvent)
  }

  mutating func apply(_ poll: Poll, on message: ID<Message>, _ event: Int) {
    guard let seq = seqs[message], let known = messages[seq], let content = known.message.content,
      event > known.actionsAsOf
    else { return }
    messages[seq]?.message.setActions(content.actions, poll: poll)
    messages[seq]?.lastActionEvent = max(event, known.lastActionEvent)
  }

  mutating func setVote(_ options: [Int], on message: ID<Message>, _ event: Int) {
    guard let seq = seqs[message], let known = messages[seq], event > known.actionsAsOf else { return }
    messages[seq]?.vote = options
    messages[seq]?.lastActionEvent = max(event, known.lastActionEvent)
  }

  /// - Returns: whether its actions are not older than the cached ones.
  mutating func merge(_ view: MessageView, asOf event: Int) -> Bool {
    guard let known = known(view.message) else {
      put(ReplicaMessage(view, asOf: event))
      return true
    }
    put(known.merged(with: ReplicaMessage(view, asOf: event)))
    return known.acceptsActions(asOf: event)
  }

  mutating func merge(_ own: OwnConversation, asOf event: Int, me: ID<User>?) {
    conversation = own.conversation
    participation = own.participation
    isOwn = own.participation != nil || (me != nil && own.conversation.owner == me)
    readPosition = ReadPosition(
      readSeq: max(readPosition.readSeq, own.readSeq), deliveredSeq: max(readPosition.deliveredSeq, own.deliveredSeq))
    unread = readPosition.readSeq == own.readSeq ? own.unread : nil
    asOf = max(asOf, event)
    asOfOffset = own.lastOffset
  }
}

// MARK: Unread counts

// The count follows the server's rules and is updated from events. The kind of the first event about an uncached
// message gives its state before. An unknown count is fetched.
extension ReplicaConversation {
  /// The user of the count. Messages of muted and blocked authors never count as unread.
  struct Recipient {
    var user: ID<User>?
    var silenced: Set<ID<User>>
  }

  private func isUnread(_ message: Message, for recipient: Recipient) -> Bool {
    message.tombstone == nil && isCounted(message, for: recipient)
  }

  private func isCounted(_ message: Message, for recipient: Recipient) -> Bool {
    message.seq > unreadAfter && message.author != recipient.user && !recipient.silenced.contains(message.author)
      && !message.isMachineOnly && message.movedFrom == nil
  }

  private mutating func count(
    _ message: Message, before: Message?, _ kind: Event.Kind, for recipient: Recipient
  ) {
    guard isOwn, let unread, isCounted(message, for: recipient) else { return }
    // A response may have returned the message before its event. The count does not include it then.
    let isInCount = message.seq <= conversation.lastSeq
    let wasUnread: Bool =
      if !isInCount {
        false
      } else if let before {
        before.tombstone == nil
      } else {
        // An uncached message was counted already, unless this event creates it.
        kind == .messageEdited || kind == .messageDeleted
      }
    let newest = before.map { $0.revision >= message.revision ? $0 : message } ?? message
    guard !isInCount || newest != before else { return }
    let step = (newest.tombstone == nil ? 1 : 0) - (wasUnread ? 1 : 0)
    guard step != 0 else { return }
    // The server does not count beyond `maxUnread`.
    guard unread < ConversationHead.maxUnread else {
      self.unread = step > 0 ? unread : nil
      return
    }
    self.unread = unread + step
  }

  mutating func move(to new: ReadPosition, for recipient: Recipient) {
    let before = unreadAfter
    // A read position never moves back.
    readPosition = ReadPosition(
      readSeq: max(readPosition.readSeq, new.readSeq), deliveredSeq: max(readPosition.deliveredSeq, new.deliveredSeq))
    if unreadAfter != before { recount(for: recipient) }
  }

  /// Counts the cached messages; fetches the count if one is missing.
  mutating func recount(for recipient: Recipient) {
    guard isOwn else { return }
    guard unreadAfter < conversation.lastSeq else {
      unread = 0
      return
    }
    var count = 0
    for seq in (unreadAfter + 1)...conversation.lastSeq {
      guard let known = messages[seq] else {
        unread = nil
        return
      }
      if isUnread(known.message, for: recipient) { count += 1 }
    }
    unread = min(count, ConversationHead.maxUnread)
  }
}
