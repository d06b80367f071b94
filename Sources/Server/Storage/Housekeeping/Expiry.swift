// What is kept for a while only. Each call does a bounded part, so that whoever keeps house can call it between other
// writes until nothing is left.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// How many seals, and how many copies in reports, are there although their time is over.
  func expired() throws(Refusal) -> (seals: Int, copies: Int) {
    try run { connection in
      let seals = try connection.first("select count(*) from sealed where until <= $1", Int(now)) { try $0.int(0) }
      let copies = try connection.first(
        "select count(*) from report where copy is not null and copy_until <= $1", Int(now)
      ) { try $0.int(0) }
      return (seals ?? 0, copies ?? 0)
    }
  }
}

extension WriteTransaction {
  /// Takes away seals whose time is over.
  ///
  /// - Returns: whether more are left.
  public func expireSealed(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select message_id
        from sealed
        where until <= $1
        order by until, message_id
        limit $2
        """, Int(now), limit + 1
      ) { row in ID<Message>(try row.int(0)) }
    }
    for message in due.prefix(limit) { try breakSeal(of: message) }
    return due.count > limit
  }

  /// Takes away the copies of messages in reports whose time is over; the reports stay.
  ///
  /// - Returns: whether more are left.
  public func expireReportCopies(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select id
        from report
        where copy is not null and copy_until <= $1
        order by copy_until, id
        limit $2
        """, Int(now), limit + 1
      ) { row in try row.int(0) }
    }
    for report in due.prefix(limit) {
      try run { connection in
        try connection.execute(
          "update report set copy = null, surroundings = null, copy_until = null where id = $1", report)
      }
    }
    if !due.isEmpty { try noteDestruction() }
    return due.count > limit
  }

  // MARK: The log

  /// Forgets what was logged before a time, oldest first and without a hole, up to the first event that is younger. Where
  /// the log begins then is kept, so that nobody is told less than everything.
  ///
  /// - Returns: whether more are left.
  func removeEvents(before time: Int64, limit: Int) throws(Refusal) -> Bool {
    let old = try run { connection in
      try connection.all(
        """
        select id, at
        from event
        where id > $1
        order by id
        limit $2
        """, 0, limit
      ) { row in (id: try row.int(0), at: Int64(try row.int(1))) }
    }.prefix { $0.at < time }
    guard let last = old.last else { return false }
    try run { connection in
      try connection.execute(
        """
        delete from event
        where id <= $1
        """, last.id)
      try connection.keepSetting("event_floor", String(last.id))
    }
    return old.count == limit
  }

  // MARK: Ways in that lead nowhere any longer

  /// Whether more are left.
  func removeExpiredSessions(limit: Int) throws(Refusal) -> Bool {
    try noteEnded { connection in
      try connection.all(
        """
        delete from session
        where id in (
          select id
          from session
          where expires_at <= $1
          order by expires_at, id
          limit $2
        )
        returning id
        """, Int(now), limit
      ) { row in ID(try row.int(0)) }
    } == limit
  }

  /// Whether more are left.
  func removeExpiredLinks(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from link
        where digest in (
          select digest
          from link
          where expires_at <= $1
          order by expires_at, digest
          limit $2
        )
        """, Int(now), limit) == limit
    }
  }
}
