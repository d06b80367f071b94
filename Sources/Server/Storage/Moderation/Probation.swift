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

/// The facts that decide whether a user is on probation.
public struct Newcomer: Sendable {
  public let limits: Newcomers
  public let signedUpAt: Int64
  /// The number of messages, counted up to `limits.messages`.
  public let messages: Int
  /// Until then users on probation only read; nil without a pause.
  public let pausedUntil: Int64?
  /// Counters of the current hour.
  public let hour: Probation?

  public var probationEndsAt: Int64 { signedUpAt + Int64(limits.days) * 86_400_000 }

  /// Whether the user has not been a user for long enough, or has written too few messages.
  public func isNew(at now: Int64) -> Bool { probationEndsAt > now || messages < limits.messages }

  /// Columns of a query of `account a` that binds the user to `$1`.
  static func columns(defaultMessages: String) -> String {
    """
    n.value as newcomers, a.created_at as signed_up_at, (
      select count(*)
      from (select 1 from message where author_id = $1 limit \(Newcomers.storedMessages(default: defaultMessages))) said
    ) as said, (
      select cast(value as integer)
      from setting
      where name = 'newcomers_paused_until' and value <> ''
    ) as paused_until, h.since, h.messages, h.links, h.mentions
    """
  }

  static let join = """
    left join probation h on h.user_id = a.id
    left join setting n on n.name = 'newcomers'
    """

  init(_ row: borrowing Row) throws {
    limits = try row.optionalText("newcomers").flatMap { Newcomers(stored: $0) } ?? Newcomers()
    signedUpAt = Int64(try row.int("signed_up_at"))
    messages = try row.int("said")
    pausedUntil = try row.optionalInt("paused_until").map { Int64($0) }
    guard let since = try row.optionalInt("since") else {
      hour = nil
      return
    }
    var hour = Probation(since: Int64(since))
    hour.messages = try row.int("messages")
    hour.links = try row.int("links")
    hour.mentions = try row.int("mentions")
    self.hour = hour
  }
}

extension ReadTransaction {
  public func newcomer(_ user: ID<User>) throws(Refusal) -> Newcomer? {
    try run { connection in
      try connection.first(Self.newcomer, user.number, Newcomers().messages, read: Newcomer.init)
    }
  }

  private static let newcomer = SQL(
    """
    select \(Newcomer.columns(defaultMessages: "$2"))
    from account a
    \(Newcomer.join)
    where a.id = $1
    """)

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

  /// The second number of the row.
  static func storedMessages(default number: String) -> String {
    """
    coalesce((
      select cast(substr(value, instr(value, ' ') + 1) as integer)
      from setting
      where name = 'newcomers'
    ), \(number))
    """
  }

  init?(stored text: String) {
    let numbers = text.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 5 else { return nil }
    self.init()
    (days, messages) = (numbers[0], numbers[1])
    (messagesPerHour, linksPerHour, mentionsPerHour) = (numbers[2], numbers[3], numbers[4])
  }
}
