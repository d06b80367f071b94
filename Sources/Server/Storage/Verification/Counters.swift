import ParleySQLite

extension Check {
  static let counters = Check(
    "counters",
    "no id names two things, none is above the counter that gives them, and the counter of events stands at the last"
  ) { examination in
    let connection = examination.connection
    let highest = try examination.number("select value from counter where name = 'id'")
    let tables = try connection.all(
      """
      select t.name
      from pragma_table_list t
      join pragma_table_info(t.name) c
      where t.schema = 'main' and t.type = 'table' and t.name not in ('event', 'stream') and c.name = 'id' and c.pk = 1
      order by t.name
      """
    ) { row in try row.text(0) }
    var last = (id: 0, table: "")
    var count = 0
    for table in tables { count += try examination.number(SQL("select count(*) from \(Connection.quoted(table))")) }
    examination.expect(count)
    // Each part is in the order of its ids already; SQLite merges them.
    let ids = try connection.prepare(
      SQL(
        tables.map { "select id, \(Connection.literal($0)) as kind from \(Connection.quoted($0))" }
          .joined(separator: " union all ") + " order by id"))
    while try ids.step() {
      let id = try ids.row.int(0)
      let table = try ids.row.text(1)
      if id == last.id { examination.fault("\(id) is the id of a row of \(last.table) and of one of \(table)") }
      if id > highest { examination.fault("\(table) \(id) is above the counter, which stands at \(highest)") }
      last = (id, table)
      try examination.step()
    }
    examination.count(count, "ids")
    try checkNamed(examination, highest)
    try checkEvents(examination)
  }

  /// Ids may be remembered where their rows are no more.
  private static func checkNamed(_ examination: Examination, _ highest: Int) throws {
    for (what, id) in [
      ("the log", try examination.number("select coalesce(max(subject), 0) from event")),
      ("a send", try examination.number("select coalesce(max(subject), 0) from idempotency")),
    ] where id > highest {
      examination.fault("\(what) names \(id), which is above the counter, which stands at \(highest)")
    }
    if highest >= 1 << 53 { examination.fault("the counter of ids stands at \(highest), where no reader is exact") }
  }

  private static func checkEvents(_ examination: Examination) throws {
    let last = max(try examination.number("select coalesce(max(id), 0) from event"), try examination.eventFloor)
    let counter = try examination.number("select value from counter where name = 'event'")
    if counter != last {
      examination.fault("the counter of events stands at \(counter), and the last event is \(last)")
    }
  }
}
