// Reads of the log for catch-up. The server first finds the streams of the client that have new events, and then reads only those.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The last offset of a stream; 0 for an empty one.
  public func lastOffset(of stream: EventStream) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select head from stream where id = $1", stream.number) { row in try row.int(0) } ?? 0
    }
  }

  /// The id of the last event that was committed; 0 before the first.
  public func lastEvent() throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select value
        from counter
        where name = 'event'
        """
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Returns the first event in the log; nil if the log is empty.
  public func firstEvent() throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        select id
        from event
        where id > 0
        order by id
        limit 1
        """
      ) { row in try row.int(0) }
    }
  }

  /// Returns events of a stream, in order. The first has the offset after `offset`, unless it was trimmed.
  public func events(in stream: EventStream, after offset: Int, limit: Int) throws(Refusal) -> [Event] {
    try events(in: stream, ListSlice(after: ListKey([offset]), limit: limit))
  }

  /// Returns events of a stream by offset.
  public func events(in stream: EventStream, _ slice: ListSlice) throws(Refusal) -> [Event] {
    guard 1...EventLimits.page ~= slice.limit else { throw .invalid("limit", .outOfRange(1...EventLimits.page)) }
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select id, stream_offset, kind, subject, revision, actor, at
          from event
          where stream = $1 and stream_offset \(page.comparison) $2
          order by stream_offset \(page.order)
          limit $3
          """), stream.number, page.number(), slice.limit
      ) { row in
        guard let kind = Event.Kind(rawValue: try row.int(2)) else { throw row.unexpected(2) }
        return Event(
          id: try row.int(0), stream: stream, offset: try row.int(1), kind: kind, subject: try row.int(3),
          revision: try row.int(4), actor: try row.int(5), at: Int64(try row.int(6)))
      }
    }
  }

  /// Returns events of all streams after an event, in order.
  public func events(after event: Int, limit: Int) throws(Refusal) -> [Event] {
    try run { connection in
      try connection.all(
        """
        select id, stream, stream_offset, kind, subject, revision, actor, at
        from event
        where id > $1
        order by id
        limit $2
        """, event, limit
      ) { row in
        guard let stream = EventStream(number: try row.int(1)) else { throw row.unexpected(1) }
        guard let kind = Event.Kind(rawValue: try row.int(3)) else { throw row.unexpected(3) }
        return Event(
          id: try row.int(0), stream: stream, offset: try row.int(2), kind: kind, subject: try row.int(4),
          revision: try row.int(5), actor: try row.int(6), at: Int64(try row.int(7)))
      }
    }
  }

  /// The streams with events after `event`, and their ends.
  public func heads(of streams: some Sequence<EventStream>, movedSince event: Int) throws(Refusal) -> [StreamHead] {
    var heads: [StreamHead] = []
    try run { connection in
      try Self.headsOfStreams.each(streams.map(\.number), connection) { row in
        guard try row.int(2) > event else { return }
        guard let stream = EventStream(number: try row.int(0)) else { throw row.unexpected(0) }
        heads.append(StreamHead(stream: stream, offset: try row.int(1), event: try row.int(2)))
      }
    }
    return heads
  }

  private static let headsOfStreams = ListQuery { list in
    """
    select id, head, last_event
    from stream
    where id in (\(list))
    """
  }

  /// The offset of the stream's last event up to `event`: 0 where it has none. Ids grow with offsets, so a binary search
  /// finds it with twenty lookups among a million, and the log needs no index for it.
  public func offset(in stream: EventStream, at event: Int) throws(Refusal) -> Int {
    guard let head = try heads(of: [stream], movedSince: 0).first else { return 0 }
    guard head.event > event else { return head.offset }
    var before = 0
    var after = head.offset
    while after - before > 1 {
      let middle = before + (after - before) / 2
      if try id(of: middle, in: stream) <= event { before = middle } else { after = middle }
    }
    return before
  }

  /// Returns 0 for a trimmed event, which is older than all others.
  private func id(of offset: Int, in stream: EventStream) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select id
        from event
        where stream = $1 and stream_offset = $2
        """, stream.number, offset
      ) { row in try row.int(0) } ?? 0
    }
  }
}

public enum EventLimits {
  /// Maximum number of events in one read.
  public static let page = 1_000
}
