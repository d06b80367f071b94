// Reads messages from rows. Attachments and action counts of a whole page take one query each.

import ParleyJSON
public import ParleyModel
import ParleySQLite

/// The columns of `Message.columns`, in their order. The compiler knows the position of each, so no name is looked up.
private enum Column: Int, CaseIterable {
  case id, conversation, seq, previous, author, clientID, kind, text, entities, annotations, replyTo, isMachineOnly
  case createdAt, sentAt, editedAt, editedBy, revision, deletion, deletedAt, deletedBy, reason, movedFrom, movedTo,
    buttons, repostOf

  var name: String {
    switch self {
    case .id: "id"
    case .conversation: "conversation_id"
    case .seq: "seq"
    case .previous: "previous_message"
    case .author: "author_id"
    case .clientID: "client_id"
    case .kind: "kind"
    case .text: "text"
    case .entities: "entities"
    case .annotations: "annotations"
    case .replyTo: "reply_to"
    case .isMachineOnly: "machine_only"
    case .createdAt: "created_at"
    case .sentAt: "sent_at"
    case .editedAt: "edited_at"
    case .editedBy: "edited_by"
    case .revision: "revision"
    case .deletion: "deletion"
    case .deletedAt: "deleted_at"
    case .deletedBy: "deleted_by"
    case .reason: "reason"
    case .movedFrom: "moved_from"
    case .movedTo: "moved_to"
    case .buttons: "buttons"
    case .repostOf: "repost_of"
    }
  }
}

/// The columns of `ReadTransaction.relatedColumns`, which follow those of a message.
enum RelatedColumn: Int, CaseIterable {
  case hasAttachments, hasActions, poll

  var position: Int { Message.columnCount + rawValue }
}

extension Message {
  /// The columns of `init(_: Row)`.
  static let columns = Column.allCases.map(\.name).joined(separator: ", ")
  static let columnCount = Column.allCases.count

  /// The size of the JSON of the content of a row in bytes, without actions and polls.
  static func contentSize(in table: String) -> String {
    """
    length(cast(json_quote(text) as blob)) + ifnull(length(cast(entities as blob)), 0)
      + ifnull(length(cast(annotations as blob)), 0)
      + ifnull((
        select sum(32 + length(cast(json_quote(description) as blob)))
        from attachment
        where message_id = \(table).id
      ), 0)
    """
  }

  /// Reads a row. `complete` adds attachments and actions.
  init(_ row: borrowing Row) throws(SQLiteError) {
    self.init(
      id: ID(try row.int(.id)), conversation: ID(try row.int(.conversation)), author: ID(try row.int(.author)),
      clientID: try row.optionalText(.clientID), kind: try Self.kind(row), seq: try row.int(.seq),
      previous: try row.optionalInt(.previous).map { ID($0) }, replyTo: try row.optionalInt(.replyTo).map { ID($0) },
      isMachineOnly: try row.bool(Column.isMachineOnly.rawValue), createdAt: Int64(try row.int(.createdAt)),
      revision: try row.int(.revision), movedFrom: try row.optionalInt(.movedFrom).map { ID($0) },
      state: row.isNull(.deletion) ? .live(try Content(row)) : .deleted(try Tombstone(row)))
  }

  private static func kind(_ row: borrowing Row) throws(SQLiteError) -> Kind {
    // Almost all rows, without a string.
    if try row.isText("message", Column.kind.rawValue) { return .message }
    guard let kind = Kind(rawValue: try row.text(.kind)) else { throw row.unexpected(Column.kind.rawValue) }
    return kind
  }
}

extension Message.Content {
  fileprivate init(_ row: borrowing Row) throws(SQLiteError) {
    self.init(
      text: try row.text(.text), entities: try row.optionalJSON(Column.entities.rawValue),
      annotations: try row.optionalJSON(Column.annotations.rawValue),
      sentAt: try row.optionalInt(.sentAt).map { Int64($0) },
      edit: row.isNull(.editedAt)
        ? nil : Message.Edit(at: Int64(try row.int(.editedAt)), by: ID(try row.int(.editedBy))),
      buttons: try [MessageButton](stored: row, Column.buttons.rawValue),
      repostOf: try row.optionalInt(.repostOf).map { ID($0) })
  }
}

extension Message.Tombstone {
  fileprivate init(_ row: borrowing Row) throws(SQLiteError) {
    guard let deletion = Message.Deletion(rawValue: try row.text(.deletion)) else {
      throw row.unexpected(Column.deletion.rawValue)
    }
    self.init(
      at: Int64(try row.int(.deletedAt)), by: try row.optionalInt(.deletedBy).map { ID($0) }, deletion: deletion,
      reason: try row.optionalText(.reason), movedTo: try row.optionalInt(.movedTo).map { ID($0) })
  }
}

extension Row {
  fileprivate func isNull(_ column: Column) -> Bool { isNull(column.rawValue) }
  fileprivate func int(_ column: Column) throws(SQLiteError) -> Int { try int(column.rawValue) }
  fileprivate func text(_ column: Column) throws(SQLiteError) -> String { try text(column.rawValue) }
  fileprivate func optionalInt(_ column: Column) throws(SQLiteError) -> Int? { try optionalInt(column.rawValue) }
  fileprivate func optionalText(_ column: Column) throws(SQLiteError) -> String? { try optionalText(column.rawValue) }
}

extension Row {
  /// JSON that was validated before it was stored.
  func optionalJSON(_ column: Int) throws(SQLiteError) -> JSONRaw? {
    if isNull(column) { return nil }
    return try withBytes(column) { text in
      JSONRaw(
        trusted: [UInt8](capacity: text.count) { output in
          for index in text.indices { output.append(text[index]) }
        })
    }
  }
}

extension ReadTransaction {
  /// A message or its tombstone; nil if the id is unknown.
  public func message(_ id: ID<Message>) throws(Refusal) -> Message? { try messages([id]).first }

  /// Messages in the order of `ids`, with repetitions. Unknown ids are left out.
  public func messages(_ ids: [ID<Message>]) throws(Refusal) -> [Message] {
    guard ids.count <= MessageQuery.maxMessages else {
      throw .invalid("ids", .tooMany(limit: MessageQuery.maxMessages))
    }
    var found: [Message] = []
    var (attached, actedOn, polled): ([Int], [Int], [Int]) = ([], [], [])
    try run { connection in
      try Self.messagesByID.each(ids.map(\.number), connection) { row in
        found.append(try Message(row))
        if try row.bool(RelatedColumn.hasAttachments.position) { attached.append(try row.int(0)) }
        if try row.bool(RelatedColumn.hasActions.position) { actedOn.append(try row.int(0)) }
        if !row.isNull(RelatedColumn.poll.position) { polled.append(try row.int(0)) }
      }
    }
    try complete(&found, filesOf: attached, actionsOf: actedOn, pollsOf: polled)
    let byID = Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    return ids.compactMap { byID[$0] }
  }

  /// The sizes of the JSON of messages in bytes, as `Message.size`, without actions and polls.
  public func sizes(of ids: [ID<Message>]) throws(Refusal) -> [ID<Message>: Int] {
    var sizes: [ID<Message>: Int] = [:]
    try run { connection in
      try Self.sizesByID.each(ids.map(\.number), connection) { row in
        sizes[ID(try row.int(0))] = Message.minSize + (try row.int(1))
      }
    }
    return sizes
  }

  /// Adds the attachments, the counts of public actions and the polls.
  func complete(_ messages: inout [Message]) throws(Refusal) {
    let live = messages.indices.filter { messages[$0].isLive }.map { messages[$0].id.number }
    try complete(&messages, filesOf: live, actionsOf: live, pollsOf: live)
  }

  /// The same for callers that know which messages have attachments, actions and polls.
  func complete(
    _ messages: inout [Message], filesOf attached: [Int], actionsOf actedOn: [Int], pollsOf polled: [Int]
  ) throws(Refusal) {
    var attachments: [Int: [(file: ID<File>, description: String)]] = [:]
    var actions: [Int: [Message.ActionCount]] = [:]
    try run { connection in
      try Self.attachmentsByMessage.each(attached, connection) { row in
        attachments[try row.int(0), default: []].append((ID(try row.int(1)), try row.text(2)))
      }
      try Self.actionsByMessage.each(actedOn, connection) { row in
        actions[try row.int(0), default: []].append(
          Message.ActionCount(type: try row.text(1), count: try row.int(2)))
      }
    }
    let polls = try polls(of: polled)
    guard !attachments.isEmpty || !actions.isEmpty || !polls.isEmpty else { return }
    for index in messages.indices {
      let id = messages[index].id.number
      guard attachments[id] != nil || actions[id] != nil || polls[id] != nil, var content = messages[index].content
      else { continue }
      let attached = attachments[id] ?? []
      content.attachments = attached.map(\.file)
      content.descriptions = AttachedFiles(content.attachments, attached.map(\.description)).descriptions
      content.actions = actions[id] ?? []
      content.poll = polls[id]
      messages[index].state = .live(content)
    }
  }

  /// Whether a message has attachments, actions, and a poll, after the columns of `Message`.
  static let relatedColumns = """
    exists (select 1 from attachment where message_id = message.id),
    exists (select 1 from action where message_id = message.id),
    has_poll
    """

  private static let messagesByID = ListQuery { list in
    """
    select \(Message.columns), \(relatedColumns)
    from message
    where id in (\(list))
    """
  }

  private static let sizesByID = ListQuery { list in
    """
    select id, \(Message.contentSize(in: "message"))
    from message
    where id in (\(list))
    """
  }

  private static let attachmentsByMessage = ListQuery { list in
    """
    select message_id, file_id, ifnull(description, '')
    from attachment
    where message_id in (\(list))
    order by message_id, position
    """
  }

  // Stars are private.
  private static let actionsByMessage = ListQuery { list in
    """
    select message_id, type, count(*)
    from action
    where message_id in (\(list)) and type <> 'star'
    group by message_id, type
    order by message_id, type
    """
  }
}
