// Hourly limits for users on probation. An hour begins with its first message. One row per user ever on probation;
// only their messages cause a write.

public import ParleyModel
import ParleySQLite

/// Counters of one hour of a user on probation.
public struct Probation: Sendable, Hashable {
  /// In milliseconds since 1970.
  public var since: Int64
  public var messages = 0
  public var links = 0
  public var mentions = 0

  public init(since: Int64) { self.since = since }
}

extension ReadTransaction {
  /// Probation limits: one settings row, because each message reads it.
  public func newcomers() throws(Refusal) -> Newcomers {
    try run { connection in try connection.setting("newcomers").flatMap { Newcomers(stored: $0) } ?? Newcomers() }
  }

  /// A user's sign-up time, number of messages, counted up to `limit`, and counters of the current hour.
  public func newcomer(
    _ user: ID<User>, countingTo limit: Int
  ) throws(Refusal) -> (createdAt: Int64, messages: Int, hour: Probation?)? {
    try run { connection in
      try connection.first(
        """
        select a.created_at, (
          select count(*)
          from (select 1 from message where author_id = $1 limit $2) said
        ), p.since, p.messages, p.links, p.mentions
        from account a
        left join probation p on p.user_id = a.id
        where a.id = $1
        """, user.number, limit
      ) { row in
        var hour = try row.optionalInt(2).map { Probation(since: Int64($0)) }
        if hour != nil {
          hour?.messages = try row.int(3)
          hour?.links = try row.int(4)
          hour?.mentions = try row.int(5)
        }
        return (createdAt: Int64(try row.int(0)), messages: try row.int(1), hour: hour)
      }
    }
  }

  /// Numbers of links and mentions in a message.
  public func linkAndMentionCount(of message: ID<Message>) throws(Refusal) -> (links: Int, mentions: Int) {
    try run { connection in
      let links = try connection.first("select count(*) from hyperlink where message_id = $1", message.number) { row in
        try row.int(0)
      }
      let mentions = try connection.first("select count(*) from mention where message_id = $1", message.number) { row in
        try row.int(0)
      }
      return (links: links ?? 0, mentions: mentions ?? 0)
    }
  }
}

extension WriteTransaction {
  public func store(_ probation: Probation, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into probation (user_id, since, messages, links, mentions)
        values ($1, $2, $3, $4, $5)
        on conflict (user_id) do update
        set since = excluded.since, messages = excluded.messages, links = excluded.links, mentions = excluded.mentions
        """, user.number, Int(probation.since), probation.messages, probation.links, probation.mentions)
    }
  }
}

extension Newcomers {
  /// Format of the settings row.
  var stored: String {
    [days, messages, messagesPerHour, linksPerHour, mentionsPerHour].map(String.init).joined(separator: " ")
  }

  init?(stored text: String) {
    let numbers = text.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 5 else { return nil }
    self.init()
    (days, messages) = (numbers[0], numbers[1])
    (messagesPerHour, linksPerHour, mentionsPerHour) = (numbers[2], numbers[3], numbers[4])
  }
}
