// Expiry of data with limited retention. Each call does a bounded part, so that housekeeping can run it between other
// writes until all of it is deleted.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Numbers of expired seals and report copies.
  func expired() throws(Refusal) -> (seals: Int, copies: Int) {
    try run { connection in
      let seals = try connection.first("select count(*) from sealed where until <= $1", Int(now)) { try $0.int(0) }
      let copies = try connection.first(
        "select count(*) from report where copy_until <= $1", Int(now)
      ) { try $0.int(0) }
      return (seals ?? 0, copies ?? 0)
    }
  }
}

extension WriteTransaction {
  /// Deletes expired seals.
  ///
  /// - Returns: whether more remain.
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

  /// Deletes expired copies of messages in reports; the reports remain.
  ///
  /// - Returns: whether more remain.
  public func expireReportCopies(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select id
        from report
        where copy_until <= $1
        order by copy_until, id
        limit $2
        """, Int(now), limit + 1
      ) { row in try row.int(0) }
    }
    for report in due.prefix(limit) {
      try run { connection in
        try connection.execute(
          "update report set copy = null, surroundings = null, held = null, copy_until = null where id = $1", report)
      }
      try releaseFiles(heldBy: ID(report))
    }
    if !due.isEmpty { try recordDestruction() }
    return due.count > limit
  }

  // MARK: The log

  /// Deletes events older than `time`, in order and without gaps, up to the first newer event. Stores the new start of
  /// the log, so that no catch-up is incomplete without notice.
  ///
  /// - Returns: whether more remain.
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

  // MARK: Expired sessions, tokens and links

  /// Returns whether more remain.
  func removeExpiredSessions(limit: Int) throws(Refusal) -> Bool {
    try recordEnded { connection in
      try connection.all(Self.deleteExpiredSessions, Int(now), limit, read: EndedSession.init)
    } == limit
  }

  private static let deleteExpiredSessions = SQL(
    """
    delete from session
    where id in (
      select s.id
      from session s
      where s.expires_at <= $1 and not \(hasDependents)
      order by s.expires_at, s.id
      limit $2
    )
    returning id, digest, 0
    """)

  /// Returns whether more remain.
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
