// The rules of the staff about new messages.

public import ParleyModel
import ParleySQLite

/// A message on which a rule is tried.
public struct RuleSample: Sendable {
  public let id: ID<Message>
  public let author: ID<User>
  public let conversation: ID<Conversation>
  public let text: String
  /// The options of its poll and the descriptions of its pictures.
  public let plainTexts: [String]
  public let hasPicture: Bool
  public let createdAt: Int64
}

extension ReadTransaction {
  public func moderationRule(_ id: ID<ModerationRule>) throws(Refusal) -> ModerationRule? {
    try run { connection in
      try connection.first(
        SQL("select \(ModerationRule.selected) from moderation_rule where id = $1"), id.number
      ) { row in try ModerationRule(row) }
    }
  }

  /// Rules in the order of their creation.
  public func moderationRules(_ slice: ListSlice) throws(Refusal) -> [ModerationRule] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(ModerationRule.selected)
          from moderation_rule
          where id \(page.comparison) $1
          order by id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try ModerationRule(row) }
    }
  }

  public func enabledModerationRules() throws(Refusal) -> [ModerationRule] {
    try run { connection in
      try connection.all(
        SQL("select \(ModerationRule.selected) from moderation_rule where enabled = 1 order by id")
      ) { row in try ModerationRule(row) }
    }
  }

  public func moderationRuleCount() throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from moderation_rule") { row in try row.int(0) } ?? 0
    }
  }

  /// The messages to which rules apply among `scanned` messages before `message`, newest first, and the oldest message
  /// that was read; nil if there are no more.
  public func ruleSamples(
    before message: ID<Message>, scanning limit: Int
  ) throws(Refusal) -> (samples: [RuleSample], last: ID<Message>?) {
    var last: ID<Message>?
    var samples: [RuleSample] = []
    try run { connection in
      let rows = try connection.all(
        """
        select m.id, m.author_id, m.conversation_id, m.created_at,
          iif(
            m.deletion is null and m.kind = 'message' and a.role in ('member', 'guest')
              and ifnull(fm.role, 'member') = 'member'
              and m.seq >= c.users_from_seq
              and (f.visibility in ('public', 'members') and m.id > f.users_from_id
                or c.forum_id is null and c.readers <> 'listed'),
            m.text, null),
          exists (
            select 1
            from attachment t
            join file on file.id = t.file_id
            where t.message_id = m.id and file.kind = 'image'
          ),
          iif(
            m.has_poll,
            (select group_concat(o.text, char(10)) from poll_option o where o.message_id = m.id),
            null),
          (select group_concat(t.description, char(10)) from attachment t where t.message_id = m.id)
        from (
          select id
          from message
          where id < $1
          order by id desc
          limit $2
        ) recent
        join message m on m.id = recent.id
        join conversation c on c.id = m.conversation_id
        join account a on a.id = m.author_id
        left join forum f on f.id = c.forum_id
        left join forum_member fm on fm.forum_id = c.forum_id and fm.user_id = m.author_id
        order by m.id desc
        """, message.number, limit
      ) { row -> (ID<Message>, RuleSample?) in
        let id = ID<Message>(try row.int(0))
        guard let text = try row.optionalText(4) else { return (id, nil) }
        return (
          id,
          RuleSample(
            id: id, author: ID(try row.int(1)), conversation: ID(try row.int(2)), text: text,
            plainTexts: [try row.optionalText(6), try row.optionalText(7)].compactMap(\.self)
              .flatMap { $0.split(separator: "\n").map(String.init) },
            hasPicture: try row.bool(5), createdAt: Int64(try row.int(3)))
        )
      }
      last = rows.count < limit ? nil : rows.last?.0
      samples = rows.compactMap(\.1)
    }
    return (samples, last)
  }
}

extension WriteTransaction {
  public func add(_ rule: ModerationRule, by actor: ID<User>) throws(Refusal) -> ModerationRule {
    var rule = rule
    rule.id = ID(nextID())
    rule.createdBy = actor
    rule.createdAt = now
    let identity: [StoredColumn] = [
      ("id", .int(rule.id.number)), ("created_by", .int(actor.number)), ("created_at", .int(Int(now))),
    ]
    try insert(into: "moderation_rule", identity + rule.columns(since: nil))
    return rule
  }

  public func change(_ before: ModerationRule, to rule: ModerationRule) throws(Refusal) -> ModerationRule {
    guard rule != before else { return before }
    var rule = rule
    rule.revision = before.revision + 1
    try update(
      "moderation_rule", rule.id.number,
      set: rule.columns(since: before) + [("revision", .int(rule.revision))])
    return rule
  }

  public func delete(_ rule: ID<ModerationRule>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from moderation_rule where id = $1", rule.number)
    }
  }
}

extension ModerationRule {
  fileprivate static let selected = "id, created_by, created_at, revision, \(columns())"

  fileprivate init(_ row: borrowing Row) throws {
    self.init(id: ID(try row.int(0)), createdBy: ID(try row.int(1)), createdAt: Int64(try row.int(2)))
    revision = try row.int(3)
    try readFields(row, from: 4)
  }
}
