import ParleySQLite

extension Check {
  static let starts = Check(
    "starts", "the starts of the server are in the order of the log, and none is after its end"
  ) { examination in
    let next = try examination.number("select value from counter where name = 'event'") + 1
    var last = 0
    var count = 0
    let starts = try examination.connection.prepare(
      """
      select ordinal, first_event
      from start
      order by ordinal
      """)
    while try starts.step() {
      let (ordinal, first) = (try starts.row.int(0), try starts.row.int(1))
      if first < last { examination.fault("start \(ordinal) begins at event \(first), its predecessor at \(last)") }
      if first > next { examination.fault("start \(ordinal) begins at event \(first), but the next event is \(next)") }
      last = first
      count += 1
      try examination.step()
    }
    examination.count(count, "starts")
  }
}
