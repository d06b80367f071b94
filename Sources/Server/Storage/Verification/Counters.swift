import ParleySQLite

extension Check {
  static let counters = Check(
    "counters",
    "no id is used twice or exceeds its counter, and the counter of events equals the last event"
  ) { examination in
    let connection = examination.connection
    let highest = try examination.number("select value from counter where name = 'id'")
    let tables = try connection.all(
      """
      select t.name
      from pragma_table_list t
      join pragma_table_info(t.name) c
      where t.schema = 'main' and t.type = 'table' and c.name = 'id' and c.pk = 1
        and t.name not in ('event', 'stream', 'push_delivery', 'push_key', 'push_state', 'mail_state')
      order by t.name
      """
    ) { row in try row.text(0) }
    var last = (id: 0, table: "")
    var count = 0
    for table in tables { count += try examination.number(SQL("select count(*) from \(Connection.quoted(table))")) }
    examination.expect(count)
    // Each part is ordered by id already; SQLite merges them.
    let ids = try connection.prepare(
      SQL(
        tables.map { "select id, \(Connection.literal($0)) as kind from \(Connection.quoted($0))" }
          .joined(separator: " union all ") + " order by id"))
    while try ids.step() {
      let id = try ids.row.int(0)
      let table = try ids.row.text(1)
      if id == last.id { examination.fault("id \(id) is used by \(last.table) and \(table)") }
      if id > highest { examination.fault("\(table) \(id) exceeds the counter of ids, \(highest)") }
      last = (id, table)
      try examination.step()
    }
    examination.count(count, "ids")
    try checkReferences(examination, highest)
    try checkEvents(examination)
  }

  /// References to rows that no longer exist may remain.
  private static func checkReferences(_ examination: Examination, _ highest: Int) throws {
    for (what, id) in [
      ("the log", try examination.number("select coalesce(max(subject), 0) from event")),
      ("a send", try examination.number("select coalesce(max(subject), 0) from idempotency")),
    ] where id > highest {
      examination.fault("\(what) names \(id), which exceeds the counter of ids, \(highest)")
    }
    if highest >= 1 << 53 { examination.fault("the counter of ids is \(highest), beyond exact JSON numbers") }
  }

  private static func checkEvents(_ examination: Examination) throws {
    let last = max(try examination.number("select coalesce(max(id), 0) from event"), try examination.eventFloor)
    let counter = try examination.number("select value from counter where name = 'event'")
    if counter != last {
      examination.fault("the counter of events is \(counter), but the last event is \(last)")
    }
  }
}
