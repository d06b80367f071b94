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
  /// All that had happened up to this event is in it; 0 where nobody can say.
  public internal(set) var asOf: Int
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
    let held = messages[message.seq]
    if isOlder(than: event) { count(message, before: held?.message, kind, for: listener) }
    // What was not held before is new to all of one's devices, unless it was said long ago.
    var new = held ?? HeldMessage(message: message, mine: kind == .messageCreated ? [] : nil, asOf: 0)
    if message.revision > new.message.revision {
      new.message = message
    } else if event.id > new.asOf, message.revision == new.message.revision {
      new.message.state = message.state
    }
    new.asOf = max(new.asOf, event.id)
    messages[message.seq] = new
    seqs[message.id] = message.seq
    guard message.seq > conversation.lastSeq else { return }
    conversation.lastSeq = message.seq
    conversation.lastMessage = message.id
  }

  /// Whether the message is held, and not with what is newer.
  mutating func take(_ actions: [Message.ActionCount], on message: ID<Message>, _ event: Int) -> Bool {
    guard let seq = seqs[message], var held = messages[seq], event > held.asOf, var content = held.message.content
    else {
      return false
    }
    content.actions = actions
    held.message.state = .live(content)
    held.asOf = event
    messages[seq] = held
    return true
  }

  mutating func setStar(_ isSet: Bool, on message: ID<Message>, _ event: Int) {
    guard let seq = seqs[message], let held = messages[seq], event > held.asOf, held.mine != nil else { return }
    if isSet { messages[seq]?.mine?.insert("star") } else { messages[seq]?.mine?.remove("star") }
  }

  /// Whether nothing newer was held.
  mutating func hold(_ seen: MessageView, asOf event: Int) -> Bool {
    let message = seen.message
    let held = messages[message.seq] ?? HeldMessage(message: message, mine: nil, asOf: 0)
    // A later revision was made after all that is held was known, also where an answer does not say how much it knew.
    let isLater = message.revision > held.message.revision
    guard isLater || event >= held.asOf && message.revision == held.message.revision else { return false }
    messages[message.seq] = HeldMessage(message: message, mine: seen.mine, asOf: max(event, held.asOf))
    seqs[message.id] = message.seq
    return true
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
    let was: Bool =
      if let before {
        before.tombstone == nil
      } else {
        // What was not held at the last answer was there already, unless it is created now.
        kind == .messageEdited || kind == .messageDeleted
      }
    let isNew = before.map { message.revision > $0.revision } ?? true
    guard isNew else { return }
    let step = (message.tombstone == nil ? 1 : 0) - (was ? 1 : 0)
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
    readPosition = new
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
