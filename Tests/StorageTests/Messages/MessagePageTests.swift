import ParleyModel
import TestSupport
import Testing

@testable import Storage

@Suite struct MessagePageTests {
  /// A room with many kinds of messages, written with a clock that is sometimes set back, and its reference.
  private static func plant(_ count: Int, _ random: inout Seeded) throws -> (
    database: RawDatabase, reference: PageReference
  ) {
    let database = try RawDatabase()
    var reference = PageReference()
    var time: Int64 = 1_800_000_000_000
    for number in 0..<count {
      time += Int64.random(in: -2...6, using: &random)
      let author =
        [RawDatabase.ada, RawDatabase.grace, RawDatabase.alan].randomElement(using: &random) ?? RawDatabase.ada
      let isMachineOnly = Int.random(in: 0..<4, using: &random) == 0
      let id = try database.post("message \(number)", by: author, at: time, isMachineOnly: isMachineOnly)
      if Bool.random(using: &random) { try database.post("elsewhere", in: RawDatabase.lawn, at: time) }
      var row = PageReference.Row(id: id, author: author, at: time, isMachineOnly: isMachineOnly)
      if Int.random(in: 0..<4, using: &random) == 0 {
        try database.delete(id)
        row.isDeleted = true
      }
      reference.rows.append(row)
    }
    try database.mute(RawDatabase.alan, by: RawDatabase.ada)
    reference.muted = [RawDatabase.alan]
    return (database, reference)
  }

  private static func read(_ database: RawDatabase, _ query: MessageQuery) throws -> PageReference.Page {
    let page = try database.reading.messages(query)
    return PageReference.Page(
      ids: page.messages.map(\.id), older: page.older, newer: page.newer, skipped: page.skipped)
  }

  @Test(arguments: 1...6)
  func `every range, order and filter agrees with a full scan`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    let (database, reference) = try Self.plant(seed == 1 ? 0 : Int.random(in: 1...60, using: &random), &random)
    let ids = reference.rows.map(\.id)
    let times = (reference.rows.map(\.at).min() ?? 0) - 2...(reference.rows.map(\.at).max() ?? 0) + 2
    for round in 0..<1_500 {
      let fromSeq = round.isMultiple(of: 3) ? Int.random(in: 1...max(1, ids.count / 2), using: &random) : 1
      let seen = ids.dropFirst(fromSeq - 1)
      func anchor() -> ID<Message>? { Bool.random(using: &random) ? seen.randomElement(using: &random) : nil }
      func time() -> Int64? { Bool.random(using: &random) ? Int64.random(in: times, using: &random) : nil }
      var windows: [MessageQuery.Window] = [
        .all, .between(after: anchor(), before: anchor()), .betweenTimes(after: time(), before: time()),
      ]
      if let id = seen.randomElement(using: &random) { windows.append(.around(id)) }
      for window in windows {
        var query = MessageQuery(RawDatabase.room, window)
        query.order = Bool.random(using: &random) ? .ascending : .descending
        query.limit = Int.random(in: 1...12, using: &random)
        query.fromSeq = fromSeq
        query.includesDeleted = Bool.random(using: &random)
        query.includesMachineOnly = Bool.random(using: &random)
        query.viewer = Bool.random(using: &random) ? RawDatabase.ada : nil
        #expect(try Self.read(database, query) == reference.page(query), "seed \(seed), round \(round): \(query)")
      }
    }
  }

  @Test(arguments: [MessageQuery.Order.ascending, .descending])
  func `consecutive pages partition all messages and gaps`(order: MessageQuery.Order) throws {
    var random = Seeded(seed: 7)
    let (database, reference) = try Self.plant(200, &random)
    for fromSeq in [1, 2, 57, 201, 202] {
      var query = MessageQuery(RawDatabase.room, order: order, limit: 7)
      query.fromSeq = fromSeq
      query.includesDeleted = false
      query.includesMachineOnly = false
      query.viewer = RawDatabase.ada
      var seqs: [Int] = []
      while true {
        let page = try database.reading.messages(query)
        seqs += page.messages.map(\.seq) + page.skipped.flatMap { Array($0.seqs) }
        guard let window = order == .ascending ? page.newer : page.older else { break }
        query.window = window
      }
      #expect(seqs.sorted() == Array(1...reference.rows.count))
    }
  }

  @Test func `attachments and actions are returned with their messages`() throws {
    let database = try RawDatabase()
    let ids = try (1...6).map { try database.post("message \($0)") }
    try database.attach([72, 71], to: ids[1])
    try database.act(RawDatabase.grace, "like", on: ids[1])
    try database.act(RawDatabase.alan, "like", on: ids[2])
    try database.act(RawDatabase.ada, "star", on: ids[3])
    try database.act(RawDatabase.ada, "like", on: ids[4])
    try database.delete(ids[4])
    for window in [MessageQuery.Window.all, .around(ids[2])] {
      let page = try database.reading.messages(MessageQuery(RawDatabase.room, window, order: .ascending))
      #expect(page.messages == (try database.reading.messages(ids)))
      #expect(page.messages.map { $0.content?.attachments.count } == [0, 2, 0, 0, nil, 0])
      #expect(page.messages.map { $0.content?.actions.map(\.count) } == [[], [1], [1], [], nil, []])
      #expect(page.marked.sorted() == Array(ids[1...4]))
    }
  }

  @Test func `a thousand messages of one millisecond are paged by every method, each once`() throws {
    let database = try RawDatabase()
    let time: Int64 = 1_800_000_000_000
    try database.post("before", at: time - 1)
    let ids = try (0..<1_000).map { number in try database.post("message \(number)", at: time) }
    try database.post("after", at: time + 1)

    func walk(_ first: MessageQuery.Window, isForward: Bool) throws -> [ID<Message>] {
      var found: [ID<Message>] = []
      var window: MessageQuery.Window? = first
      while let wanted = window {
        let page = try database.reading.messages(MessageQuery(RawDatabase.room, wanted, limit: 37))
        found += (isForward ? page.messages.reversed() : page.messages).map(\.id)
        window = isForward ? page.newer : page.older
      }
      return found
    }
    let backward = try walk(.betweenTimes(after: nil, before: time + 1), isForward: false)
    #expect(backward.dropLast() == ids.reversed()[...])
    let forward = try walk(.betweenTimes(after: time - 1, before: nil), isForward: true)
    #expect(forward.dropLast() == ids[...])
    #expect(try walk(.betweenTimes(after: time, before: nil), isForward: true).count == 1)
    #expect(try walk(.betweenTimes(after: nil, before: time), isForward: false).count == 1)
    #expect(try walk(.betweenTimes(after: time - 1, before: time + 1), isForward: true) == ids)
    #expect(try walk(.all, isForward: false).count == 1_002)
    #expect(
      try database.reading.messages(MessageQuery(RawDatabase.room, .aroundTime(time), limit: 1)).messages[0].id
        == ids[0])

    var around: Set<ID<Message>> = []
    var anchor: ID<Message>? = ids[500]
    while let id = anchor {
      let page = try database.reading.messages(MessageQuery(RawDatabase.room, .around(id), limit: 37))
      around.formUnion(page.messages.map(\.id))
      anchor = page.older == nil ? nil : page.messages.last.flatMap { last in ids.last { $0 < last.id } }
    }
    #expect(around.isSuperset(of: ids[...500]))
  }

  @Test func `deletions and edits between pages leave no gap`() throws {
    var random = Seeded(seed: 11)
    let (database, reference) = try Self.plant(150, &random)
    var ids = reference.rows.map(\.id)
    var chain: [Message] = []
    while true {
      let window: MessageQuery.Window = chain.last.map { .between(after: $0.id, before: nil) } ?? .all
      let page = try database.reading.messages(MessageQuery(RawDatabase.room, window, order: .ascending, limit: 9))
      chain += page.messages
      guard page.newer != nil else { break }
      for _ in 0..<5 {
        guard let id = ids.randomElement(using: &random) else { continue }
        if Bool.random(using: &random) {
          try database.delete(id)
        } else {
          try database.connection.execute(
            "update message set text = 'edited', revision = revision + 1 where id = $1 and deletion is null", id.number)
        }
      }
      if ids.count < 180 { ids.append(try database.post("late")) }
    }
    #expect(chain.map(\.id) == ids)
    #expect(chain.map(\.seq) == Array(1...ids.count))
    #expect(chain.first?.previous == nil)
    for (one, next) in zip(chain, chain.dropFirst()) { #expect(next.previous == one.id) }
  }

  @Test func `an anchor may be deleted`() throws {
    let database = try RawDatabase()
    let ids = try (0..<5).map { try database.post("message \($0)") }
    try database.delete(ids[2])
    var query = MessageQuery(RawDatabase.room, .between(after: ids[2], before: nil))
    query.includesDeleted = false
    #expect(try database.reading.messages(query).messages.map(\.id) == [ids[4], ids[3]])
    query.window = .around(ids[2])
    let page = try database.reading.messages(query)
    #expect(page.messages.map(\.id) == [ids[4], ids[3], ids[1], ids[0]])
    #expect(page.skipped == [.init(3...3, .deleted)])
  }

  @Test func `a hidden anchor is refused like a missing one`() throws {
    let database = try RawDatabase()
    let hidden = try database.post("before she came")
    let seen = try database.post("after")
    let elsewhere = try database.post("elsewhere", in: RawDatabase.lawn)
    for id in [hidden, elsewhere, ID(9_999)] {
      for (window, field) in [
        (MessageQuery.Window.between(after: id, before: nil), "after"), (.between(after: seen, before: id), "before"),
        (.around(id), "around"),
      ] {
        var query = MessageQuery(RawDatabase.room, window)
        query.fromSeq = 2
        #expect(throws: Refusal.invalid(field, .mismatch)) { try database.reading.messages(query) }
      }
    }
  }

  @Test func `a range that ends before its start is empty`() throws {
    let database = try RawDatabase()
    let ids = try (0..<3).map { try database.post("message \($0)", at: 1_800_000_000_000 + Int64($0)) }
    for window in [
      MessageQuery.Window.between(after: ids[1], before: ids[1]), .between(after: ids[2], before: ids[0]),
      .betweenTimes(after: 1_800_000_000_005, before: 1_700_000_000_000), .betweenTimes(after: .max, before: .min),
    ] {
      let page = try database.reading.messages(MessageQuery(RawDatabase.room, window))
      #expect(
        page.messages.isEmpty && page.older == nil && page.newer == nil && page.skipped.isEmpty && page.latestSeq == 3)
    }
  }

  @Test(arguments: [0, -1, 201, Int.max])
  func `a limit beyond the maximum is refused`(limit: Int) throws {
    let database = try RawDatabase()
    #expect(throws: Refusal.invalid("limit", .outOfRange(1...MessageQuery.maxMessages))) {
      try database.reading.messages(MessageQuery(RawDatabase.room, limit: limit))
    }
  }

  @Test func `a missing conversation is not found`() throws {
    let database = try RawDatabase()
    #expect(throws: Refusal.notFound) { try database.reading.messages(MessageQuery(ID(77))) }
  }

  @Test func `a page has the id of the last event it reflects`() throws {
    let database = try RawDatabase()
    #expect(try database.reading.messages(MessageQuery(RawDatabase.room)).lastEvent == 0)
    for number in 0..<3 { try database.post("message \(number)") }
    #expect(try database.reading.messages(MessageQuery(RawDatabase.room)).lastEvent == 3)
  }
}
