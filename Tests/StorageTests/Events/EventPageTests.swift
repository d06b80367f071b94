import ParleyModel
import TestSupport
import Testing

@testable import Storage

@Suite struct EventPageTests {
  /// Random events of several streams.
  private static func plant(_ count: Int) throws -> (database: RawDatabase, events: [Event], streams: [EventStream]) {
    let database = try RawDatabase()
    var random = Seeded(seed: 5)
    let streams: [EventStream] =
      [.site] + (1...60).map { .user(ID($0)) } + [.conversation(RawDatabase.room), .forum(ID(60))]
    var events: [Event] = []
    for number in 0..<count {
      let stream = streams.dropLast().randomElement(using: &random) ?? .site
      events += try database.write(at: Int64(number)) { tx in
        try tx.log(.messageEdited, in: stream, subject: number, revision: 2, actor: 1)
        return tx.events
      }
    }
    return (database, events, streams)
  }

  @Test func `a stream is read page by page, each event once`() throws {
    let (database, events, streams) = try Self.plant(400)
    for stream in streams {
      var found: [Event] = []
      while true {
        let page = try database.reading.events(in: stream, after: found.last?.offset ?? 0, limit: 3)
        found += page
        if page.count < 3 { break }
      }
      #expect(found == events.filter { $0.stream == stream })
    }
    #expect(try database.reading.lastEvent() == 400)
    for limit in [0, -1, 1_001] {
      #expect(throws: Refusal.invalid("limit", .outOfRange(1...EventLimits.page))) {
        try database.reading.events(in: .site, after: 0, limit: limit)
      }
    }
  }

  @Test func `a list of streams returns only the changed ones with their last offsets`() throws {
    let (database, events, streams) = try Self.plant(400)
    for cursor in [0, 1, 200, 390, 399, 400, 500] {
      let heads = try database.reading.heads(of: streams, movedSince: cursor)
      let moved = streams.filter { stream in events.contains { $0.stream == stream && $0.id > cursor } }
      #expect(Set(heads.map(\.stream)) == Set(moved) && heads.count == moved.count)
      for head in heads {
        let last = try #require(events.last { $0.stream == head.stream })
        #expect(head.offset == last.offset && head.event == last.id)
      }
    }
    #expect(try database.reading.heads(of: [], movedSince: 0).isEmpty)
  }

  @Test func `a cursor resolves in every stream, also after log truncation`() throws {
    let (database, events, streams) = try Self.plant(300)
    for floor in [1, 101] {
      try database.connection.execute("delete from event where id < $1", floor)
      #expect(try database.reading.firstEvent() == floor)
      for stream in streams.prefix(5) {
        for cursor in [floor, floor + 1, 150, 299, 300, 9_999] {
          let offset = try database.reading.offset(in: stream, at: cursor)
          #expect(offset == events.last { $0.stream == stream && $0.id <= cursor }?.offset ?? 0)
          let later = try database.reading.events(in: stream, after: offset, limit: 1_000)
          #expect(later == events.filter { $0.stream == stream && $0.id > cursor })
        }
      }
    }
    try database.connection.execute("delete from event")
    #expect(try database.reading.firstEvent() == nil)
    #expect(try database.reading.lastEvent() == 300)
  }
}
