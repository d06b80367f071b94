/// A conversation as a client holds it, with the messages that it has.
public struct HeldConversation: Sendable, Hashable {
  public internal(set) var conversation: Conversation
  /// Nil for who takes no part.
  public internal(set) var participation: OwnConversation.Participation?
  /// One's own: taken part in, or one's feed. Of what is only read, no unread count is kept.
  public internal(set) var isOwn = false
  public internal(set) var readPosition = ReadPosition()
  /// Nil where it has to be asked for.
  public internal(set) var unread: Int? = 0
  public internal(set) var messages: [Int: HeldMessage] = [:]
  /// How far others have come.
  public internal(set) var receipts: [ID<User>: ReadPosition] = [:]
  var seqs: [ID<Message>: Int] = [:]
  /// What has no revision is at least as new as this event, and exactly as new as this offset of its stream.
  var asOf: Int
  var asOfOffset = 0

  init(_ conversation: Conversation, asOf: Int) {
    self.conversation = conversation
    self.asOf = asOf
  }

  public var lastMessage: Message? { messages[conversation.lastSeq]?.message }

  /// What is not later was read, or was said before one came.
  var unreadAfter: Int {
    ConversationHead.unreadStart(
      readSeq: readPosition.readSeq, joinedSeq: participation?.joinedSeq ?? 0, fromSeq: participation?.fromSeq ?? 1)
  }
}

/// A message, and which actions on it are one's own.
public struct HeldMessage: Sendable, Hashable {
  public internal(set) var message: Message
  /// Nil where nobody has said.
  public internal(set) var mine: Set<String>?
  /// The revision includes all events up to this one; 0 if unknown.
  public internal(set) var asOf: Int
  /// The last response with all actions, the own ones included, includes all events up to this one; 0 if unknown. A revision
  /// says nothing about actions, and an event never has all of them.
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

extension HeldConversation {
  /// Whether an event says something newer of what has no revision.
  func isOlder(than event: ReceivedEvent) -> Bool {
    event.stream == .conversation(conversation.id) ? event.offset > asOfOffset : event.id > asOf
  }

  mutating func keepMessages(of other: HeldConversation) {
    messages = other.messages
    seqs = other.seqs
  }

  mutating func gain(_ gained: GainedConversation) {
    participation = gained.participation
    isOwn = true
    readPosition = gained.readPosition
    unread = conversation.lastSeq <= unreadAfter ? 0 : nil
    // What was said before one's history is as if it were not there.
    if conversation.lastSeq < gained.participation?.fromSeq ?? 1 { conversation.lastMessage = nil }
  }

  mutating func take(_ new: Conversation, _ event: ReceivedEvent) {
    let old = conversation
    if new.revision > old.revision { conversation = new }
    if isOlder(than: event) {
      conversation.participants = new.participants ?? old.participants
      conversation.participantCount = new.participantCount ?? old.participantCount
    }
    // Those move with what is said, and never back.
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

  mutating func take(_ message: Message, _ kind: Event.Kind, _ event: ReceivedEvent, for listener: Listener) {
    let held = self.held(message)
    let isNewer = isOlder(than: event)
    if isNewer { count(message, before: held?.message, kind, for: listener) }
    // A created message that was not held before has no own actions, unless it is old.
    let isNew = kind == .messageCreated
    var new =
      held ?? HeldMessage(message: message, mine: isNew ? [] : nil, asOf: 0, actionsAsOf: isNew ? event.id : 0)
    let actions = new.message.content?.actions
    if message.revision > new.message.revision {
      new.message = message
    } else if event.id > new.asOf, message.revision == new.message.revision {
      new.message.state = message.state
    }
    if event.id <= new.actionsAsOf, let actions { new.message.setActions(actions) }
    new.asOf = max(new.asOf, event.id)
    put(new)
    // The row includes the event, but a count of the held messages did not.
    if !isNewer, let held, waits(held.message, for: listener) != waits(new.message, for: listener) {
      recount(for: listener)
    }
    guard message.seq > conversation.lastSeq else { return }
    conversation.lastSeq = message.seq
    conversation.lastMessage = message.id
  }

  /// The same message as it is held; nil if the server has lost the one that had its `seq`.
  private func held(_ message: Message) -> HeldMessage? {
    guard let held = messages[message.seq], held.message.isSame(as: message) else { return nil }
    return held
  }

  private mutating func put(_ held: HeldMessage) {
    let message = held.message
    if let other = messages[message.seq]?.message.id, other != message.id { seqs[other] = nil }
    messages[message.seq] = held
    seqs[message.id] = message.seq
  }

  /// - Returns: whether the message is held and no newer response has its actions.
  mutating func take(_ actions: [Message.ActionCount], on message: ID<Message>, _ event: Int) -> Bool {
    guard let seq = seqs[message], let held = messages[seq], event > held.actionsAsOf, held.message.content != nil else {
      return false
    }
    messages[seq]?.message.setActions(actions)
    messages[seq]?.lastActionEvent = max(event, held.lastActionEvent)
    return true
  }

  mutating func setStar(_ isSet: Bool, on message: ID<Message>, _ event: Int) {
    guard let seq = seqs[message], let held = messages[seq], event > held.actionsAsOf, held.mine != nil else { return }
    if isSet { messages[seq]?.mine?.insert("star") } else { messages[seq]?.mine?.remove("star") }
    messages[seq]?.lastActionEvent = max(event, held.lastActionEvent)
  }

  /// - Returns: whether its actions are not older than the held ones.
  mutating func hold(_ seen: MessageView, asOf event: Int) -> Bool {
    guard let held = held(seen.message) else {
      put(HeldMessage(seen, asOf: event))
      return true
    }
    put(held.merged(with: HeldMessage(seen, asOf: event)))
    return held.acceptsActions(asOf: event)
  }

  mutating func hold(_ own: OwnConversation, asOf event: Int, me: ID<User>?) {
    conversation = own.conversation
    participation = own.participation
    isOwn = own.participation != nil || (me != nil && own.conversation.owner == me)
    readPosition = ReadPosition(readSeq: max(readPosition.readSeq, own.readSeq), deliveredSeq: max(readPosition.deliveredSeq, own.deliveredSeq))
    unread = readPosition.readSeq == own.readSeq ? own.unread : nil
    asOf = max(asOf, event)
    asOfOffset = own.lastOffset
  }
}

// MARK: How many are unread

// Counted as the server does, from what events say: before the first event about a message it was what the kind of that event
// says. What can't be known is asked for.
extension HeldConversation {
  /// For whom is counted. What those wrote whom they mute or block waits nowhere.
  struct Listener {
    var user: ID<User>?
    var silenced: Set<ID<User>>
  }

  private func waits(_ message: Message, for listener: Listener) -> Bool {
    message.tombstone == nil && isCounted(message, for: listener)
  }

  private func isCounted(_ message: Message, for listener: Listener) -> Bool {
    message.seq > unreadAfter && message.author != listener.user && !listener.silenced.contains(message.author)
      && !message.isMachineOnly && message.movedFrom == nil
  }

  private mutating func count(
    _ message: Message, before: Message?, _ kind: Event.Kind, for listener: Listener
  ) {
    guard isOwn, let unread, isCounted(message, for: listener) else { return }
    // A response may have brought the message ahead of its event. It is not in the count then.
    let isInCount = message.seq <= conversation.lastSeq
    let was: Bool =
      if !isInCount {
        false
      } else if let before {
        before.tombstone == nil
      } else {
        // What was not held at the last answer was there already, unless it is created now.
        kind == .messageEdited || kind == .messageDeleted
      }
    let newest = before.map { $0.revision >= message.revision ? $0 : message } ?? message
    guard !isInCount || newest != before else { return }
    let step = (newest.tombstone == nil ? 1 : 0) - (was ? 1 : 0)
    guard step != 0 else { return }
    // Beyond the most nobody has counted.
    guard unread < ConversationHead.maxUnread else {
      self.unread = step > 0 ? unread : nil
      return
    }
    self.unread = unread + step
  }

  mutating func move(to new: ReadPosition, for listener: Listener) {
    let before = unreadAfter
    // A read position never moves back.
    readPosition = ReadPosition(
      readSeq: max(readPosition.readSeq, new.readSeq), deliveredSeq: max(readPosition.deliveredSeq, new.deliveredSeq))
    if unreadAfter != before { recount(for: listener) }
  }

  /// From the messages that are held; what is not held is asked for.
  mutating func recount(for listener: Listener) {
    guard isOwn else { return }
    guard unreadAfter < conversation.lastSeq else {
      unread = 0
      return
    }
    var waiting = 0
    for seq in (unreadAfter + 1)...conversation.lastSeq {
      guard let held = messages[seq] else {
        unread = nil
        return
      }
      if waits(held.message, for: listener) { waiting += 1 }
    }
    unread = min(waiting, ConversationHead.maxUnread)
  }
}
