import SQLite

/// Whether a database is whole: what SQLite says of its pages and its keys, and what we promise of chains and the log.
enum Soundness {
  /// What is wrong, each in a sentence; nothing, if all is well.
  static func faults(in connection: Connection) throws -> [String] {
    let pages = try connection.integrityFaults(limit: 20)
    // What can't be read can't be asked.
    guard pages.isEmpty else { return pages }
    let keys = try connection.foreignKeyViolations().prefix(20).map { violation in
      "a row of \(violation.table) names one of \(violation.parent) that is not there"
    }
    return try keys + chains(in: connection) + log(in: connection)
  }

  /// Each message names the one before it, and none is missing.
  private static func chains(in connection: Connection) throws -> [String] {
    try connection.all(
      """
      select m.id
      from message m
      left join message p on p.conversation_id = m.conversation_id and p.seq = m.seq - 1
      where m.previous_message is not p.id
      order by m.id
      limit 20
      """
    ) { row in "the chain breaks at the message \(try row.int(0))" }
      + connection.all(
        """
        select c.id
        from conversation c
        left join (
          select conversation_id, count(*) as messages, max(seq) as last
          from message
          group by conversation_id
        ) m on m.conversation_id = c.id
        where c.last_seq <> coalesce(m.messages, 0) or c.last_seq <> coalesce(m.last, 0)
        order by c.id
        limit 20
        """
      ) { row in "messages of the conversation \(try row.int(0)) are missing" }
  }

  /// Offsets are without holes in each stream, and ids in the whole. The oldest events may have been let go.
  private static func log(in connection: Connection) throws -> [String] {
    try connection.all(
      """
      select s.id
      from stream s
      join (
        select stream, count(*) as events, min(stream_offset) as first, max(stream_offset) as last
        from event
        group by stream
      ) e on e.stream = s.id
      where s.head <> e.last or e.events <> e.last - e.first + 1
      order by s.id
      limit 20
      """
    ) { row in "events of the stream \(try row.int(0)) are missing" }
      + connection.all(
        """
        select max(e.id)
        from event e
        having count(*) > 0
        and (max(e.id) <> (select value from counter where name = 'event') or count(*) <> max(e.id) - min(e.id) + 1)
        """
      ) { row in "events up to \(try row.int(0)) are missing" }
  }
}

extension Connection {
  /// How many rows each table has.
  func counts() throws -> [String: Int] {
    let tables = try all(
      """
      select name
      from pragma_table_list
      where schema = 'main' and type = 'table' and name not like 'sqlite!_%' escape '!'
      order by name
      """
    ) { row in try row.text(0) }
    var counts: [String: Int] = [:]
    for table in tables {
      let name = table.replacing("\"", with: "\"\"")
      counts[table] = try first(SQL("select count(*) from \"\(name)\"")) { row in try row.int(0) } ?? 0
    }
    return counts
  }
}
