// Pagination of a conversation. A page resolves its window of `seq` first, then reads the filtered messages of the
// window from the anchored end. The filters are part of the query, so pages are full. Filtered messages are returned as
// `skipped` ranges: over consecutive pages every `seq` of the conversation is in exactly one page or one range.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func messages(_ query: MessageQuery) throws(Refusal) -> MessagePage {
    guard 1...MessageQuery.maxMessages ~= query.limit else {
      throw .invalid("limit", .outOfRange(1...MessageQuery.maxMessages))
    }
    guard let latest = try lastSeq(of: query.conversation) else { throw .notFound }
    var slice = try slice(query, latest: latest)
    if slice.hasRelated {
      // Their size is known after the messages are chosen.
      slice.bytes -= slice.size
      try complete(&slice.messages, filesOf: slice.attached, actionsOf: slice.actedOn, pollsOf: slice.polled)
      slice.bytes += slice.size
      if let limit = query.smallerLimit(than: slice.messages.count, of: slice.bytes) {
        var query = query
        query.limit = limit
        return try messages(query)
      }
    }
    let skipped = try skipped(slice, query)
    let covered = slice.covered
    if slice.order != query.order { slice.messages.reverse() }
    return MessagePage(
      messages: slice.messages, older: slice.hasOlder ? .older(than: covered.lowerBound, in: slice.bounds) : nil,
      newer: slice.hasNewer ? .newer(than: covered.upperBound - 1, in: slice.bounds) : nil,
      skipped: skipped, marked: slice.actedOn.map { ID($0) },
      polled: slice.polled.map { ID($0) }, latestSeq: latest, lastEvent: try lastEvent())
  }

  /// Whether a user mutes or blocks another one. Few do; for the others a query needs no filter by author.
  public func hidesAnyone(_ viewer: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select exists (select 1 from relation where user_id = $1 and kind = 'mute')
          or exists (select 1 from relation where user_id = $1 and kind = 'block')
        """, viewer.number
      ) { row in try row.bool(0) } ?? false
    }
  }

  func lastSeq(of conversation: ID<Conversation>) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        select last_seq
        from conversation
        where id = $1
        """, conversation.number
      ) { row in try row.int(0) }
    }
  }

  // MARK: Windows

  private func slice(_ query: MessageQuery, latest: Int) throws(Refusal) -> Slice {
    let everything = 1..<latest + 1
    switch query.window {
    case .all:
      return try slice(query, everything, fromOldest: query.order == .ascending)
    case .between(let after, let before):
      let start = try after.map { id throws(Refusal) in try seq(of: id, query, as: "after") + 1 } ?? 1
      let end = try before.map { id throws(Refusal) in try seq(of: id, query, as: "before") } ?? latest + 1
      let window = start..<max(start, end)
      return try slice(
        query, window, fromOldest: after != nil, within: after == nil || before == nil ? nil : window)
    case .betweenTimes(let after, let before):
      let start = try after.map { time throws(Refusal) in try firstSeq(query, from: time &+ 1) ?? latest + 1 } ?? 1
      let end = try before.map { time throws(Refusal) in try firstSeq(query, from: time) ?? latest + 1 } ?? latest + 1
      let window = start..<max(start, end)
      return try slice(
        query, window, fromOldest: after != nil, within: after == nil || before == nil ? nil : window)
    case .around(let id):
      return try slice(query, everything, around: try seq(of: id, query, as: "around"))
    case .aroundTime(let time):
      guard let seq = try firstSeq(query, from: time), query.fromSeq <= latest else {
        return try slice(query, everything, fromOldest: false)
      }
      return try slice(query, everything, around: max(seq, query.fromSeq))
    case .older(let seq, let bounds):
      let window = (bounds ?? everything).clamped(to: 1..<max(1, min(seq, latest + 1)))
      return try slice(query, window, fromOldest: false, within: bounds)
    case .newer(let seq, let bounds):
      let window = (bounds ?? everything).clamped(to: min(seq, latest) + 1..<latest + 1)
      return try slice(query, window, fromOldest: true, within: bounds)
    }
  }

  /// The `seq` of an anchor, deleted or not. An anchor outside of the viewer's history is refused like an unknown one.
  /// It is not `notFound`, which refers to the conversation.
  private func seq(of id: ID<Message>, _ query: MessageQuery, as field: String) throws(Refusal) -> Int {
    let seq = try run { connection in
      try connection.first(
        """
        select seq
        from message
        where id = $1 and conversation_id = $2 and seq >= $3
        """, id.number, query.conversation.number, query.fromSeq
      ) { row in try row.int(0) }
    }
    guard let seq else { throw .invalid(field, .mismatch) }
    return seq
  }

  private func firstSeq(_ query: MessageQuery, from time: Int64) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        select seq
        from message
        where conversation_id = $1 and coalesce(latest_at, created_at) >= $2
        order by coalesce(latest_at, created_at), seq
        limit 1
        """, query.conversation.number, Int(time)
      ) { row in try row.int(0) }
    }
  }

  // MARK: Slices

  private func slice(
    _ query: MessageQuery, _ window: Range<Int>, fromOldest: Bool, within bounds: Range<Int>? = nil
  ) throws(Refusal) -> Slice {
    let visible = window.clamped(to: query.fromSeq..<Int.max)
    var slice = Slice(window: window, bounds: bounds)
    slice.order = fromOldest ? .ascending : .descending
    slice.messages = try messages(
      query, visible, slice.order, limit: query.limit, maxBytes: query.maxBytes, of: &slice)
    let gap = fromOldest ? window.lowerBound : window.upperBound
    try findNeighbours(of: &slice, query, orAt: gap)
    slice.isCutAtEnd = fromOldest && slice.newer.map { window.contains($0) } == true
    slice.isCutAtStart = !fromOldest && slice.older.map { window.contains($0) } == true
    return slice
  }

  /// Half of the messages are newer than the anchor, unless one side has fewer.
  private func slice(_ query: MessageQuery, _ window: Range<Int>, around seq: Int) throws(Refusal) -> Slice {
    let limit = query.limit
    var slice = Slice(window: window, bounds: nil)
    var newer = try messages(
      query, seq + 1..<window.upperBound, .ascending, limit: limit / 2, maxBytes: query.maxBytes / 2, of: &slice)
    let older = try messages(
      query, query.fromSeq..<seq + 1, .descending, limit: limit - newer.count, maxBytes: query.maxBytes, of: &slice)
    if newer.count == limit / 2, older.count + newer.count < limit, slice.bytes < query.maxBytes {
      let next = (newer.last?.seq ?? seq) + 1
      newer += try messages(
        query, next..<window.upperBound, .ascending, limit: limit - older.count - newer.count,
        maxBytes: query.maxBytes, of: &slice)
    }
    slice.messages = older.reversed() + newer
    try findNeighbours(of: &slice, query, orAt: seq)
    slice.isCutAtStart = slice.older != nil
    slice.isCutAtEnd = slice.newer != nil
    return slice
  }

  private func findNeighbours(of slice: inout Slice, _ query: MessageQuery, orAt gap: Int) throws(Refusal) {
    let first = slice.oldest ?? gap
    let end = slice.newest.map { $0 + 1 } ?? gap
    slice.older = try neighbour(query, query.fromSeq..<max(query.fromSeq, first), .descending)
    slice.newer = try neighbour(query, max(query.fromSeq, end)..<Int.max, .ascending)
  }

  // MARK: Queries

  /// Records in the slice the messages with files and actions. Few have any, and only those are queried for them.
  private func messages(
    _ query: MessageQuery, _ seqs: Range<Int>, _ order: MessageQuery.Order, limit: Int, maxBytes: Int,
    of slice: inout Slice
  ) throws(Refusal) -> [Message] {
    if seqs.isEmpty || limit == 0 { return [] }
    var messages: [Message] = []
    messages.reserveCapacity(limit)
    var (attached, actedOn, polled): ([Int], [Int], [Int]) = ([], [], [])
    var bytes = slice.bytes
    try each(Self.columns, query, seqs, order, limit: limit) { row in
      let message = try Message(row)
      let size = try message.size + row.int(Self.postSizeColumn)
      guard messages.isEmpty || bytes + size <= maxBytes else { return false }
      bytes += size
      messages.append(message)
      if try row.bool(RelatedColumn.hasAttachments.position) { attached.append(try row.int(0)) }
      if try row.bool(RelatedColumn.hasActions.position) { actedOn.append(try row.int(0)) }
      if !row.isNull(RelatedColumn.poll.position) { polled.append(try row.int(0)) }
      return true
    }
    slice.bytes = bytes
    slice.attached += attached
    slice.actedOn += actedOn
    slice.polled += polled
    return messages
  }

  private static let columns = """
    \(Message.columns),
    \(relatedColumns),
    iif(repost_of is null, 0, (select \(Message.contentSize(in: "post")) from message post where post.id = message.repost_of))
    """

  /// The size of the post of a repost, which a response may include.
  private static let postSizeColumn = Message.columnCount + RelatedColumn.allCases.count

  private func neighbour(
    _ query: MessageQuery, _ seqs: Range<Int>, _ order: MessageQuery.Order
  ) throws(Refusal) -> Int? {
    if seqs.isEmpty { return nil }
    var found: Int?
    try each("seq", query, seqs, order, limit: 1) { row in
      found = try row.int(0)
      return true
    }
    return found
  }

  /// - Parameter read: returns false to stop.
  private func each(
    _ columns: String, _ query: MessageQuery, _ seqs: Range<Int>, _ order: MessageQuery.Order, limit: Int,
    _ read: (borrowing Row) throws -> Bool
  ) throws(Refusal) {
    try run { connection in
      let statement = try connection.prepare(Self.filtered(columns, query, order))
      if let viewer = query.viewer {
        try statement.bind(query.conversation.number, seqs.lowerBound, seqs.upperBound, viewer.number, limit)
      } else {
        try statement.bind(query.conversation.number, seqs.lowerBound, seqs.upperBound, limit)
      }
      while try statement.step(), try read(statement.row) {}
    }
  }

  /// The filters are part of the SQL text: an unused filter is free, and with both deletion and machine filters the
  /// text matches a partial index.
  private static func filtered(_ columns: String, _ query: MessageQuery, _ order: MessageQuery.Order) -> SQL {
    SQL(
      """
      select \(columns)
      from message
      where conversation_id = $1 and seq >= $2 and seq < $3
      \(query.viewer == nil ? "" : hidden)
      \(query.includesDeleted ? "" : "and deletion is null")
      \(query.includesMachineOnly ? "" : "and machine_only = 0")
      order by seq \(order.rawValue)
      limit \(query.viewer == nil ? "$4" : "$5")
      """)
  }

  private static let hidden =
    "and author_id not in (select other_id from relation where user_id = $4 and kind in ('mute', 'block'))"

  // MARK: Skipped ranges

  private func skipped(_ slice: Slice, _ query: MessageQuery) throws(Refusal) -> [MessagePage.Skipped] {
    var skipped: [MessagePage.Skipped] = []
    let covered = slice.covered
    if covered.lowerBound < min(query.fromSeq, covered.upperBound) {
      skipped.append(.init(covered.lowerBound...min(query.fromSeq, covered.upperBound) - 1, .beforeJoining))
    }
    for gap in slice.gaps(from: query.fromSeq) { skipped.append(.init(gap, try reason(for: gap, query))) }
    return skipped
  }

  /// The reason for a skipped range. With only one filter on, no query is needed.
  private func reason(for gap: ClosedRange<Int>, _ query: MessageQuery) throws(Refusal) -> MessagePage.Skipped.Reason {
    if query.includesDeleted, query.includesMachineOnly { return .muted }
    if query.includesDeleted, query.viewer == nil { return .machineOnly }
    if query.includesMachineOnly, query.viewer == nil { return .deleted }
    var reasons: Set<MessagePage.Skipped.Reason> = []
    try run { connection in
      let statement = try connection.prepare(
        """
        select deletion is not null, machine_only
        from message
        where conversation_id = $1 and seq between $2 and $3
        """)
      try statement.bind(query.conversation.number, gap.lowerBound, gap.upperBound)
      while reasons.count < 2, try statement.step() {
        let isDeleted = try statement.row.bool(0)
        let isMachineOnly = try statement.row.bool(1)
        if isDeleted, !query.includesDeleted {
          reasons.insert(.deleted)
        } else {
          reasons.insert(isMachineOnly && !query.includesMachineOnly ? .machineOnly : .muted)
        }
      }
    }
    return reasons.count == 1 ? reasons.first ?? .several : .several
  }
}

/// The messages of a page, and its ends.
private struct Slice {
  /// The requested range of `seq`.
  let window: Range<Int>
  /// The range that the neighbouring pages keep to, if the first request has a bound at both ends.
  let bounds: Range<Int>?
  /// In the order of the query, to avoid reversing twice.
  var messages: [Message] = []
  var order = MessageQuery.Order.ascending
  /// The messages with files, with actions of any user, and with polls.
  var attached: [Int] = []
  var actedOn: [Int] = []
  var polled: [Int] = []
  /// The size of the messages.
  var bytes = 0
  /// The nearest `seq` on either side of the messages that passes the filters.
  var older: Int?
  var newer: Int?
  /// Whether the limit cut the window at its start or end.
  var isCutAtStart = false
  var isCutAtEnd = false

  init(window: Range<Int>, bounds: Range<Int>?) {
    self.window = window
    self.bounds = bounds
  }

  /// Whether a message has files, actions or a poll.
  var hasRelated: Bool { !(attached.isEmpty && actedOn.isEmpty && polled.isEmpty) }
  /// The size of the messages without the posts that they repost.
  var size: Int { messages.reduce(0) { $0 + $1.size } }

  var hasOlder: Bool { older.map { bounds?.contains($0) ?? true } ?? false }
  var hasNewer: Bool { newer.map { bounds?.contains($0) ?? true } ?? false }

  /// The lowest and highest `seq` of the messages.
  var oldest: Int? { order == .ascending ? messages.first?.seq : messages.last?.seq }
  var newest: Int? { order == .ascending ? messages.last?.seq : messages.first?.seq }

  /// The range of `seq` that the page covers with messages or skipped ranges.
  var covered: Range<Int> {
    let start = isCutAtStart ? oldest : nil
    let end = isCutAtEnd ? newest.map { $0 + 1 } : nil
    return (start ?? window.lowerBound)..<(end ?? window.upperBound)
  }

  /// The ranges without a message, from `seq` on.
  func gaps(from seq: Int) -> [ClosedRange<Int>] {
    var gaps: [ClosedRange<Int>] = []
    var next = max(covered.lowerBound, seq)
    for index in messages.indices {
      let seq = messages[order == .ascending ? index : messages.count - 1 - index].seq
      if seq > next { gaps.append(next...seq - 1) }
      next = seq + 1
    }
    if next < covered.upperBound { gaps.append(next...covered.upperBound - 1) }
    return gaps
  }
}
