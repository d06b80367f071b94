// A replica is stored on disk as rows, so that an event writes only the rows that it changes. Messages do not all fit
// in memory: the client loads the messages that an event changes, and unloads them afterwards.

public import ParleyJSON

/// One stored object of a replica.
public struct ReplicaRow: Sendable, Hashable {
  /// The table and the key of the row.
  public var name: Name
  /// Nil if the object was deleted.
  public var value: JSONRaw?

  /// The name of a row, unique in a replica.
  public struct Name: Sendable, Hashable {
    /// The table of the row.
    public var table: Table
    /// The key in the table, such as an id.
    public var key: String

    /// The name of a row in a table.
    public init(_ table: Table, _ key: String) {
      self.table = table
      self.key = key
    }
  }

  /// Kind of the stored objects.
  public enum Table: String, Sendable, CaseIterable {
    /// The parts of a replica.
    case site, user, forum, conversation, level, relation, stream, need
  }

  /// A row to store; without a value, a row to delete.
  public init(_ name: Name, _ value: JSONRaw?) {
    self.name = name
    self.value = value
  }

  fileprivate init(_ table: Table, _ key: String, _ value: (any JSONWritable)?) {
    name = Name(table, key)
    self.value = value.map { value in
      var json = JSONWriter()
      value.write(to: &json)
      return JSONRaw(trusted: json.bytes)
    }
  }
}

extension Replica {
  /// Rows that differ from an earlier state, without messages.
  public func rows(changedSince before: Replica) -> [ReplicaRow] {
    var rows: [ReplicaRow] = []
    if me != before.me { rows.append(ReplicaRow(.site, "me", me)) }
    if settings != before.settings { rows.append(ReplicaRow(.site, "settings", settings)) }
    if cursor != before.cursor { rows.append(ReplicaRow(.site, "cursor", cursor)) }
    if ownAsOf != before.ownAsOf { rows.append(ReplicaRow(.site, "own_as_of", ownAsOf)) }
    if inbox != before.inbox { rows.append(ReplicaRow(.site, "inbox", inbox)) }
    rows += Self.changes(.user, users, before.users) { $0.description }
    rows += Self.changes(.forum, forums, before.forums) { $0.description }
    rows += Self.changes(.conversation, conversations, before.conversations) { $0.description }
    rows += Self.changes(.level, levels.mapValues(\.rawValue), before.levels.mapValues(\.rawValue)) { $0.name }
    let names = { (kinds: Set<Relation>) in kinds.map(\.rawValue).sorted() }
    rows += Self.changes(.relation, relations.mapValues(names), before.relations.mapValues(names)) { $0.description }
    rows += Self.changes(.stream, positions, before.positions) { $0.description }
    for need in needs.subtracting(before.needs) { rows.append(ReplicaRow(.need, need.name, true)) }
    for need in before.needs.subtracting(needs) { rows.append(ReplicaRow(.need, need.name, nil)) }
    return rows
  }

  private static func changes<Key: Hashable, Value: Equatable & JSONWritable>(
    _ table: ReplicaRow.Table, _ now: [Key: Value], _ before: [Key: Value], _ name: (Key) -> String
  ) -> [ReplicaRow] {
    var rows: [ReplicaRow] = []
    for (key, value) in now where before[key] != value { rows.append(ReplicaRow(table, name(key), value)) }
    for key in before.keys where now[key] == nil { rows.append(ReplicaRow(table, name(key), nil)) }
    return rows
  }

  /// Loads a stored row.
  public mutating func take(_ row: ReplicaRow) throws(JSONError) {
    guard let raw = row.value else { return }
    let value = try JSONValue(parsing: raw.bytes)
    let name = row.name
    switch name.table {
    case .site: try take(site: name.key, value)
    case .user:
      let user = try User(json: value)
      users[user.summary.id] = user
    case .forum:
      let known = try ReplicaForum(json: value)
      forums[known.forum.id] = known
    case .conversation:
      let known = try ReplicaConversation(json: value)
      conversations[known.conversation.id] = known
    case .level:
      guard let scope = LevelScope(named: name.key) else { throw value.error(.invalid) }
      levels[scope] = try value.word()
    case .relation:
      guard let user = ID<User>(name.key) else { throw value.error(.invalid) }
      relations[user] = Set(try value.array { kind throws(JSONError) in try kind.word() })
    case .stream:
      guard let stream = EventStream(name.key) else { throw value.error(.invalid) }
      positions[stream] = try Position(json: value)
    case .need:
      guard let need = Need(named: name.key) else { throw value.error(.invalid) }
      needs.insert(need)
    }
  }

  private mutating func take(site name: String, _ value: JSONValue) throws(JSONError) {
    switch name {
    case "me": me = try User(json: value)
    case "settings": settings = try SiteSettings(json: value)
    case "cursor": cursor = try EventCursor(json: value)
    case "own_as_of": ownAsOf = try value.int()
    case "inbox": inbox = try InboxCounts(json: value)
    // A later version may store more.
    default: break
    }
  }
}

// MARK: Messages in the store

extension Replica {
  /// Loads cached messages; newer copies in memory stay.
  public mutating func bring(_ messages: [ReplicaMessage]) {
    for known in messages { conversations[known.message.conversation]?.bring(known) }
  }

  /// Unloads the messages of all conversations from memory.
  public mutating func setMessagesAside() {
    for id in conversations.keys { conversations[id]?.setMessagesAside() }
  }

  /// Stores messages of a response, perhaps before their events.
  /// - Returns: the conversations whose unread counts are needed.
  @discardableResult
  public mutating func merge(ahead messages: [MessageView], asOf event: Int) -> Set<ID<Conversation>> {
    let requested = askForCounts(aheadOf: messages)
    merge(messages, asOf: event)
    return requested
  }

  /// Adds a need.
  public mutating func require(_ need: Need) { needs.insert(need) }

  /// Requests the unread count of each conversation whose message may have arrived before its event: the event itself
  /// will no longer change the count.
  @discardableResult
  public mutating func askForCounts(aheadOf messages: [MessageView]) -> Set<ID<Conversation>> {
    var requested: Set<ID<Conversation>> = []
    for view in messages {
      let (id, message) = (view.message.conversation, view.message)
      guard message.author != me?.summary.id, let known = conversations[id] else { continue }
      if message.seq > known.conversation.lastSeq || known.mayChangeCount(message) {
        needs.insert(.conversation(id))
        requested.insert(id)
      }
    }
    return requested
  }

  /// Keeps the needs of messages, which a snapshot does not satisfy.
  public mutating func keepMessageNeeds(of other: Replica) {
    for case .message(let id) in other.needs { needs.insert(.message(id)) }
  }

  /// Moves the cursor after a response with all events up to it.
  public mutating func move(to cursor: EventCursor) { self.cursor = cursor }
}

extension ReplicaConversation {
  /// Whether an event is older than the row.
  public func includes(_ event: ReceivedEvent) -> Bool { !isOlder(than: event) }

  /// The messages that the unread count depends on.
  public var unreadSeqs: Range<Int> { unreadAfter + 1..<max(unreadAfter, conversation.lastSeq) + 1 }

  /// Whether a message may enter or leave the unread count.
  fileprivate func mayChangeCount(_ message: Message) -> Bool {
    guard isOwn, message.seq > unreadAfter else { return false }
    guard let known = messages[message.seq]?.message else { return message.revision > 1 || message.tombstone != nil }
    return (known.tombstone == nil) != (message.tombstone == nil)
  }

  fileprivate mutating func bring(_ known: ReplicaMessage) {
    let seq = known.message.seq
    guard messages[seq] == nil else { return }
    messages[seq] = known
    seqs[known.message.id] = seq
  }

  fileprivate mutating func setMessagesAside() {
    guard !messages.isEmpty else { return }
    messages = [:]
    seqs = [:]
  }
}

extension ReplicaMessage {
  /// A message of a response that includes all events up to `event`.
  public init(_ view: MessageView, asOf event: Int) {
    self.init(message: view.message, mine: view.mine, asOf: event, actionsAsOf: event)
    vote = view.vote
  }

  /// Marks its age as unknown: event ids of another log are not comparable.
  public mutating func forgetAge() { (asOf, actionsAsOf, lastActionEvent) = (0, 0, 0) }

  /// Whether the actions of a response may replace these.
  func acceptsActions(asOf event: Int) -> Bool { event >= max(actionsAsOf, lastActionEvent) }

  /// The newer revision and the newer actions of the same message: a response may have only one of them.
  public func merged(with new: ReplicaMessage) -> ReplicaMessage {
    var merged = self
    let isLater = new.message.revision > message.revision
    if isLater || new.message.revision == message.revision && new.asOf >= asOf {
      merged.message = new.message
      merged.asOf = max(asOf, new.asOf)
    }
    if acceptsActions(asOf: new.actionsAsOf) {
      (merged.mine, merged.vote, merged.actionsAsOf) = (new.mine, new.vote, new.actionsAsOf)
      if let content = new.message.content { merged.message.setActions(content.actions, poll: content.poll) }
    } else if let content = message.content {
      merged.message.setActions(content.actions, poll: content.poll)
    }
    return merged
  }
}

extension Message {
  /// Whether both are revisions of one message. A restored server may assign the id and the `seq` of a lost message again.
  public func isSame(as other: Message) -> Bool {
    id == other.id && conversation == other.conversation && seq == other.seq && createdAt == other.createdAt
  }

  /// Whether both have one `seq` of one conversation.
  public func hasPosition(of other: Message) -> Bool { conversation == other.conversation && seq == other.seq }

  /// Whether both were posted by one `client_id`.
  public func isResent(_ other: Message) -> Bool {
    clientID != nil && clientID == other.clientID && author == other.author
  }

  /// Whether a created message, the copy of a moved one, may have actions or a vote of the user. Its event has none.
  var mayHaveOwnActions: Bool {
    guard movedFrom != nil, let content else { return false }
    return !content.actions.isEmpty || content.poll != nil
  }

  /// A tombstone has neither.
  mutating func setActions(_ actions: [ActionCount], poll: Poll?) {
    guard case .live(var content) = state else { return }
    content.actions = actions
    content.poll = poll
    state = .live(content)
  }
}

// MARK: Names of rows

extension Replica.Position: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.array { json in
      json.value(offset)
      json.value(event)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    let numbers: [Int] = try Array(json: value)
    guard numbers.count == 2 else { throw value.error(.invalid) }
    self.init(offset: numbers[0], event: numbers[1])
  }
}

extension LevelScope {
  fileprivate var name: String {
    switch self {
    case .forum(let id): "forum:\(id)"
    case .conversation(let id): "conversation:\(id)"
    }
  }

  fileprivate init?(named name: String) {
    switch EventStream(name) {
    case .forum(let id): self = .forum(id)
    case .conversation(let id): self = .conversation(id)
    case .site, .user, nil: return nil
    }
  }
}

extension Replica.Need {
  fileprivate var name: String {
    switch self {
    case .user(let id): "user:\(id)"
    case .forum(let id): "forum:\(id)"
    case .conversation(let id): "conversation:\(id)"
    case .message(let id): "message:\(id)"
    case .inbox: "inbox"
    case .everything: "everything"
    }
  }

  fileprivate init?(named name: String) {
    let parts = name.split(separator: ":")
    guard parts.count == 2, let id = ID<Void>(String(parts[1])) else {
      switch name {
      case "inbox": self = .inbox
      case "everything": self = .everything
      default: return nil
      }
      return
    }
    switch parts[0] {
    case "user": self = .user(ID(id.number))
    case "forum": self = .forum(ID(id.number))
    case "conversation": self = .conversation(ID(id.number))
    case "message": self = .message(ID(id.number))
    default: return nil
    }
  }
}
