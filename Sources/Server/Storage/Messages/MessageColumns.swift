// Reads messages from rows. Attachments and action counts of a whole page take one query each.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension Message {
  /// The columns of `init(_: Row)`, in its order.
  static let columns = """
    id, conversation_id, seq, previous_message, author_id, client_id, kind, text, entities, annotations, reply_to,
    machine_only, created_at, sent_at, edited_at, edited_by, revision, deletion, deleted_at, deleted_by, reason,
    moved_from, moved_to
    """
  static let columnCount = 23

  /// Reads a row. `complete` adds attachments and actions.
  init(_ row: borrowing Row) throws(SQLiteError) {
    self.init(
      id: ID(try row.int(0)), conversation: ID(try row.int(1)), author: ID(try row.int(4)),
      clientID: try row.optionalText(5), kind: try Self.kind(row), seq: try row.int(2),
      previous: try row.optionalInt(3).map { ID($0) }, replyTo: try row.optionalInt(10).map { ID($0) },
      isMachineOnly: try row.bool(11), createdAt: Int64(try row.int(12)), revision: try row.int(16),
      movedFrom: try row.optionalInt(21).map { ID($0) },
      state: row.isNull(17) ? .live(try Content(row)) : .deleted(try Tombstone(row)))
  }

  private static func kind(_ row: borrowing Row) throws(SQLiteError) -> Kind {
    guard let kind = Kind(rawValue: try row.text(6)) else { throw row.unexpected(6) }
    return kind
  }
}

extension Message.Content {
  fileprivate init(_ row: borrowing Row) throws(SQLiteError) {
    self.init(
      text: try row.text(7), entities: try row.optionalJSON(8), annotations: try row.optionalJSON(9),
      sentAt: try row.optionalInt(13).map { Int64($0) },
      edit: row.isNull(14) ? nil : Message.Edit(at: Int64(try row.int(14)), by: ID(try row.int(15))))
  }
}

extension Message.Tombstone {
  fileprivate init(_ row: borrowing Row) throws(SQLiteError) {
    guard let deletion = Message.Deletion(rawValue: try row.text(17)) else { throw row.unexpected(17) }
    self.init(
      at: Int64(try row.int(18)), by: try row.optionalInt(19).map { ID($0) }, deletion: deletion,
      reason: try row.optionalText(20), movedTo: try row.optionalInt(22).map { ID($0) })
  }
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
    try run { connection in
      try Self.messagesByID.each(ids.map(\.number), connection) { row in found.append(try Message(row)) }
    }
    try complete(&found)
    let byID = Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    return ids.compactMap { byID[$0] }
  }

  /// Adds the attachments and the counts of public actions.
  func complete(_ messages: inout [Message]) throws(Refusal) {
    let live = messages.indices.filter { messages[$0].isLive }.map { messages[$0].id.number }
    try complete(&messages, filesOf: live, actionsOf: live)
  }

  /// The same for callers that know which messages have attachments and actions.
  func complete(_ messages: inout [Message], filesOf attached: [Int], actionsOf actedOn: [Int]) throws(Refusal) {
    var attachments: [Int: [ID<File>]] = [:]
    var actions: [Int: [Message.ActionCount]] = [:]
    try run { connection in
      try Self.attachmentsByMessage.each(attached, connection) { row in
        attachments[try row.int(0), default: []].append(ID(try row.int(1)))
      }
      try Self.actionsByMessage.each(actedOn, connection) { row in
        actions[try row.int(0), default: []].append(
          Message.ActionCount(type: try row.text(1), count: try row.int(2)))
      }
    }
    guard !attachments.isEmpty || !actions.isEmpty else { return }
    for index in messages.indices {
      let id = messages[index].id.number
      guard attachments[id] != nil || actions[id] != nil, var content = messages[index].content else { continue }
      content.attachments = attachments[id] ?? []
      content.actions = actions[id] ?? []
      messages[index].state = .live(content)
    }
  }

  private static let messagesByID = ListQuery { list in
    """
    select \(Message.columns)
    from message
    where id in (\(list))
    """
  }

  private static let attachmentsByMessage = ListQuery { list in
    """
    select message_id, file_id
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
