import ParleyModel
import ParleySQLite

extension Check {
  static let streams = Check(
    "streams",
    "events are numbered from 1, or from the start of the log, without gaps, on the site and within each stream, and "
      + "each stream names its last"
  ) { examination in
    examination.expect(2 * (try examination.number("select count(*) from event")))
    try walkEvents(examination)
    try walkStreams(examination)
  }

  private static func walkEvents(_ examination: Examination) throws {
    var last = try examination.eventFloor
    var count = 0
    let events = try examination.connection.prepare(
      """
      select id, kind
      from event
      order by id
      """)
    while try events.step() {
      let id = try events.row.int(0)
      if id != last + 1 { examination.fault("event \(id) comes after \(last)") }
      let kind = try events.row.int(1)
      if Event.Kind(rawValue: kind) == nil { examination.fault("event \(id) has the unknown kind \(kind)") }
      last = id
      count += 1
      try examination.step()
    }
    examination.count(count, "events")
  }

  private static func walkStreams(_ examination: Examination) throws {
    let streams = try examination.connection.prepare(
      """
      select id, head, last_event
      from stream
      order by id
      """)
    let events = try examination.connection.prepare(
      """
      select stream, stream_offset, id
      from event
      order by stream, stream_offset
      """)
    let floor = try examination.eventFloor
    var count = 0
    var hasEvent = try events.step()
    while try streams.step() {
      let stream = try streams.row.int(0)
      let name = EventStream(number: stream).map { "stream \($0)" } ?? "unknown stream \(stream)"
      if EventStream(number: stream) == nil { examination.fault("there is \(name)") }
      hasEvent = try skipHeadless(events, to: stream, hasEvent, examination)
      let recorded = (offset: try streams.row.int(1), id: try streams.row.int(2))
      var last = (offset: 0, id: 0)
      // The beginning of each stream is removed: all of it, or up to the first event that remains.
      if floor > 0, recorded.id <= floor { last = recorded }
      if floor > 0, hasEvent, try events.row.int(0) == stream { last.offset = try events.row.int(1) - 1 }
      while hasEvent, try events.row.int(0) == stream {
        let next = (offset: try events.row.int(1), id: try events.row.int(2))
        if next.offset != last.offset + 1 {
          examination.fault("\(name): event \(next.id) has offset \(next.offset), its predecessor \(last.offset)")
        }
        if next.id <= last.id { examination.fault("\(name): event \(next.id) comes after \(last.id)") }
        last = next
        try examination.step()
        hasEvent = try events.step()
      }
      if recorded != last {
        examination.fault(
          "\(name) names event \(recorded.id) at offset \(recorded.offset) as its last, but ends with \(last.id) at "
            + "\(last.offset)")
      }
      count += 1
    }
    _ = try skipHeadless(events, to: .max, hasEvent, examination)
    examination.count(count, "streams")
  }

  /// Reports events of streams without a head.
  private static func skipHeadless(
    _ events: borrowing Statement, to stream: Int, _ hasEvent: Bool, _ examination: Examination
  ) throws -> Bool {
    var hasEvent = hasEvent
    while hasEvent, try events.row.int(0) < stream {
      examination.fault(
        "event \(try events.row.int(2)) is in stream \(try events.row.int(0)), which has no head")
      try examination.step()
      hasEvent = try events.step()
    }
    return hasEvent
  }
}

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
