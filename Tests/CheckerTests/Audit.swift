import ParleyModel

/// The read permissions from the tables after each step. It checks that each sent event and text is readable by its
/// recipient.
struct Audit {
  /// The first readable `seq` of each user in each conversation.
  typealias Access = [ID<User>: [ID<Conversation>: Int]]

  /// The progress of publishing: events up to `published` are done, and `publishing` is in progress.
  struct Progress {
    var published = 0
    var publishing: ClosedRange<Int>?

    /// The last event that all subscribers have received.
    var delivered: Int { publishing.map { min(published, $0.lowerBound - 1) } ?? published }
  }

  private var history: [(event: Int, access: Access)] = []

  mutating func note(_ access: Access, at event: Int) { history.append((event, access)) }

  /// The conversations that a user may read now.
  var conversations: [ID<Conversation>] {
    Set((history.last?.access ?? [:]).values.flatMap(\.keys)).sorted()
  }

  var lastEvent: Int { history.last?.event ?? 0 }

  private func access(at event: Int) -> Access { history.last { $0.event <= event }?.access ?? [:] }

  /// The first `seq` that a user may read in a conversation now; nil without permission.
  func start(of user: ID<User>, in conversation: ID<Conversation>) -> Int? {
    history.last?.access[user]?[conversation]
  }

  /// The same for a sent event: catch-up reads check the current permissions, and broadcasts those at the published
  /// event.
  private func start(
    of user: ID<User>, in conversation: ID<Conversation>, at event: Int, _ progress: Progress
  ) -> Int? {
    var open = [history.last?.access ?? [:]]
    if event <= progress.published { open.append(access(at: progress.published)) }
    // A removed user still receives the event of the removal.
    if progress.publishing?.contains(event) == true { open.append(access(at: event - 1)) }
    return open.compactMap { $0[user]?[conversation] }.min()
  }

  /// The fault if a user must not receive an event. `seq` returns the position of a message.
  func fault(
    _ event: ReceivedEvent, for user: ID<User>, _ progress: Progress, seq: (ID<Message>) -> Int?
  ) -> String? {
    switch event.stream {
    case .site:
      guard case .forum(let forum) = event.content, forum.visibility == .private else { return nil }
      return "\(user) receives the private forum \(forum.id)"
    case .user(let owner):
      guard owner == user else { return "\(user) receives a private event of \(owner)" }
      guard case .gained(let gained) = event.content else { return nil }
      let conversation = gained.conversation.id
      guard start(of: user, in: conversation, at: event.id, progress) == nil else { return nil }
      return "\(user) receives conversation \(conversation) without permission"
    case .forum: return "\(user) subscribes to no forum"
    case .conversation(let conversation):
      guard let start = start(of: user, in: conversation, at: event.id, progress) else {
        return "\(user) receives event \(event.id) of \(conversation) without permission"
      }
      guard start > 1, let message = event.message, let seq = seq(message), seq < start else { return nil }
      return "\(user) receives an event about message \(seq) of \(conversation), but may read from \(start)"
    }
  }

  /// The fault if a user must not read a text requested after the event `since`.
  func fault(
    textIn conversation: ID<Conversation>, for user: ID<User>, since: Int, seq: () -> Int?
  ) -> String? {
    let first = history.lastIndex { $0.event <= since } ?? 0
    guard let start = history[first...].compactMap({ $0.access[user]?[conversation] }).min() else {
      return "\(user) receives a text of \(conversation) without permission"
    }
    guard start > 1, let seq = seq(), seq < start else { return nil }
    return "\(user) receives the text of message \(seq) of \(conversation), but may read from \(start)"
  }
}

extension ReceivedEvent {
  /// The message that the event is about.
  fileprivate var message: ID<Message>? {
    switch content {
    case .message(let message): message.id
    case .actions(let message, _), .poll(let message, _): message
    case .star, .vote, .receipt, .readPosition, .conversation, .gained, .participant, .member, .forum, .user, .settings,
      .level, .later, .timelinePosition, .relations, .inbox, .press, .commandReply, .thing, .hidden:
      nil
    }
  }
}
