// Buttons of messages, a JSON array in the row of the message, and presses of them. A press logs two events: in the stream
// of the bot, and in that of its owner, whose outgoing webhooks deliver it.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension [MessageButton] {
  /// Nil without buttons.
  var stored: String? {
    guard !isEmpty else { return nil }
    var json = JSONWriter()
    json.value(self)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  init(stored row: borrowing Row, _ column: Int) throws(SQLiteError) {
    guard let json = try row.optionalJSON(column) else {
      self = []
      return
    }
    do throws(JSONError) { try self.init(json: JSONValue(parsing: json.bytes)) } catch {
      throw row.unexpected(column)
    }
  }
}

extension ReadTransaction {
  func buttons(of message: ID<Message>) throws(Refusal) -> [MessageButton] {
    try self.message(message)?.content?.buttons ?? []
  }

  public func press(_ id: ID<ButtonPress>) throws(Refusal) -> ButtonPress? { try presses([id])[id] }

  public func presses(_ ids: some Sequence<ID<ButtonPress>>) throws(Refusal) -> [ID<ButtonPress>: ButtonPress] {
    var found: [ID<ButtonPress>: ButtonPress] = [:]
    try run { connection in
      try Self.pressesByID.each(ids.map(\.number), connection) { row in
        let press = ButtonPress(
          id: ID(try row.int(0)), message: ID(try row.int(1)), conversation: ID(try row.int(2)),
          button: try row.text(3), user: ID(try row.int(4)), bot: ID(try row.int(5)), revision: try row.int(6),
          createdAt: Int64(try row.int(7)))
        found[press.id] = press
      }
    }
    return found
  }

  private static let pressesByID = ListQuery { list in
    """
    select p.id, p.message_id, m.conversation_id, p.button, p.user_id, p.bot_id, p.revision, p.created_at
    from button_press p
    join message m on m.id = p.message_id
    where p.id in (\(list))
    """
  }
}

extension WriteTransaction {
  func setButtons(_ buttons: [MessageButton], of message: ID<Message>) throws(Refusal) {
    try run { connection in
      try connection.execute("update message set buttons = $1 where id = $2", buttons.stored, message.number)
    }
  }

  /// Stores a press of a button of `message`.
  ///
  /// - Parameter owner: the owner of the bot.
  public func addPress(
    of button: String, on message: Message, by user: ID<User>, tellingAlso owner: ID<User>?
  ) throws(Refusal) -> ID<ButtonPress> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into button_press (id, message_id, button, user_id, bot_id, revision, created_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        """, id, message.id.number, button, user.number, message.author.number, message.revision, Int(now))
    }
    for recipient in [message.author, owner].compactMap(\.self) {
      try log(.buttonPressed, in: .user(recipient), subject: id, revision: message.revision, actor: user.number)
    }
    return ID(id)
  }

  func removePresses(on message: ID<Message>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from button_press where message_id = $1", message.number)
    }
  }

  /// Deletes presses by a user and of a bot's buttons, at most `limit` each. Returns whether none is left.
  func removePresses(of user: ID<User>, limit: Int) throws(Refusal) -> Bool {
    let counts = try run { connection in
      try ["user_id", "bot_id"].map { column in
        try connection.execute(
          SQL(
            """
            delete from button_press
            where id in (
              select id
              from button_press
              where \(column) = $1
              limit $2
            )
            """), user.number, limit)
      }
    }
    return counts.allSatisfy { $0 < limit }
  }

  /// Deletes old presses. Returns whether more remain.
  func removeOldPresses(limit: Int) throws(Refusal) -> Bool {
    let count = try run { connection in
      try connection.execute(
        """
        delete from button_press
        where id in (
          select id
          from button_press
          where created_at <= $1
          order by created_at
          limit $2
        )
        """, Int(now - ButtonPress.maxAge), limit)
    }
    return count == limit
  }
}
