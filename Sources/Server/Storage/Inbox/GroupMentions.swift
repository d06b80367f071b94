// Mentions of groups of users.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Members of a group with ids above `user`, without those that cannot read because they are no participants. Read access
  /// must still be checked.
  public func possibleReaders(
    ofGroup group: ID<UserGroup>, in conversation: ID<Conversation>, after user: ID<User>, limit: Int
  ) throws(Refusal) -> [ID<User>] {
    try run { connection in
      try connection.all(
        """
        select n.user_id
        from conversation c
        join user_group_member n on n.group_id = $1 and n.user_id > $2
        where c.id = $3 and (
          c.forum_id is not null
          or c.readers <> 'listed'
          or c.owner_id = n.user_id
          or exists (
            select 1
            from participant p
            where p.conversation_id = c.id and p.user_id = n.user_id
          )
        )
        order by n.user_id
        limit $4
        """, group.number, user.number, conversation.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Whether a message exists and is not deleted.
  public func isLive(_ message: ID<Message>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select deletion is null from message where id = $1", message.number) { row in
        try row.bool(0)
      } ?? false
    }
  }
}

extension WriteTransaction {
  /// Records a mention of a group, unless the last one was less than `interval` ms ago. Returns whether it is allowed.
  public func recordMention(of group: ID<UserGroup>, minInterval interval: Int64) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update user_group
        set mentioned_at = $1
        where id = $2 and (mentioned_at is null or mentioned_at not between $3 + 1 and $1)
        """, Int(now), group.number, Int(now - interval)) == 1
    }
  }
}

/// Progress of the notification of a mentioned group's members.
public struct GroupMentionProgress: Sendable {
  public let group: ID<UserGroup>
  public let message: ID<Message>
  public let conversation: ID<Conversation>
  public let author: ID<User>
  /// The last member that was notified or passed over.
  public var last = ID<User>(0)

  public init(
    group: ID<UserGroup>, message: ID<Message>, conversation: ID<Conversation>, author: ID<User>
  ) {
    self.group = group
    self.message = message
    self.conversation = conversation
    self.author = author
  }
}

extension GroupMentionProgress: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      group: try object.read("group"), message: try object.read("message"),
      conversation: try object.read("conversation"), author: try object.read("author"))
    last = ID(try object.int("last"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("group", group)
      json.field("message", message)
      json.field("conversation", conversation)
      json.field("author", author)
      json.field("last", last.number)
    }
  }
}
