import ParleyModel

/// Who may read what, as the tables say after each step, and whether what leaves the server is theirs to see.
struct Audit {
  /// Where somebody's history begins in what they take part in.
  typealias Access = [ID<User>: [ID<Conversation>: Int]]

  /// What is being told: everything up to here is known, and this is on its way.
  struct Moment {
    var published = 0
    var publishing: ClosedRange<Int>?

    /// The last event of which everyone has been told.
    var told: Int { publishing.map { min(published, $0.lowerBound - 1) } ?? published }
  }

  private var history: [(event: Int, access: Access)] = []

  mutating func note(_ access: Access, at event: Int) { history.append((event, access)) }

  var lastEvent: Int { history.last?.event ?? 0 }

  private func access(at event: Int) -> Access { history.last { $0.event <= event }?.access ?? [:] }

  /// Where somebody may begin to read a conversation now; nil where they may not.
  func start(of user: ID<User>, in conversation: ID<Conversation>) -> Int? {
    history.last?.access[user]?[conversation]
  }

  /// The same when an event is told: whoever reads on sees by the rights of now, and whoever is told at once by those of
  /// what was told.
  private func start(
    of user: ID<User>, in conversation: ID<Conversation>, told event: Int, _ moment: Moment
  ) -> Int? {
    var open = [history.last?.access ?? [:]]
    if event <= moment.published { open.append(access(at: moment.published)) }
    // Whoever is put out is still told so.
    if moment.publishing?.contains(event) == true { open.append(access(at: event - 1)) }
    return open.compactMap { $0[user]?[conversation] }.min()
  }

  /// Why an event should not go to somebody. `seq` says where a message stands in its conversation.
  func fault(
    _ event: ReceivedEvent, for user: ID<User>, _ moment: Moment, seq: (ID<Message>) -> Int?
  ) -> String? {
    switch event.stream {
    case .site:
      guard case .forum(let forum) = event.content, forum.visibility == .private else { return nil }
      return "\(user) gets the private forum \(forum.id)"
    case .user(let owner):
      guard owner == user else { return "\(user) gets what is \(owner)’s alone" }
      guard case .gained(let gained) = event.content else { return nil }
      let conversation = gained.conversation.id
      guard start(of: user, in: conversation, told: event.id, moment) == nil else { return nil }
      return "\(user) gets conversation \(conversation), which is not theirs"
    case .forum: return "\(user) follows no forum"
    case .conversation(let conversation):
      guard let start = start(of: user, in: conversation, told: event.id, moment) else {
        return "\(user) gets event \(event.id) of \(conversation), which is not theirs"
      }
      guard start > 1, let message = event.message, let seq = seq(message), seq < start else { return nil }
      return "\(user) gets something of message \(seq) of \(conversation), and begins at \(start)"
    }
  }

  /// Why words should not go to somebody who asked for them after the event `since`.
  func fault(
    wordsIn conversation: ID<Conversation>, for user: ID<User>, since: Int, seq: () -> Int?
  ) -> String? {
    let first = history.lastIndex { $0.event <= since } ?? 0
    guard let start = history[first...].compactMap({ $0.access[user]?[conversation] }).min() else {
      return "\(user) gets words out of \(conversation), which is not theirs"
    }
    guard start > 1, let seq = seq(), seq < start else { return nil }
    return "\(user) gets words of message \(seq) of \(conversation), and begins at \(start)"
  }
}

extension ReceivedEvent {
  /// What it says something of.
  fileprivate var message: ID<Message>? {
    switch content {
    case .message(let message): message.id
    case .actions(let message, _): message
    case .star, .receipt, .readPosition, .conversation, .gained, .participant, .member, .forum, .user, .settings, .level,
      .relations, .inbox, .thing, .hidden:
      nil
    }
  }
}
