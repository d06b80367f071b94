import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Pages verify themselves by `seq`, `previous_message` and the skipped ranges.
@Suite struct MessagePagingTests {
  /// Messages of one room, all in the same millisecond.
  private static func fill(_ village: Village, _ room: String, _ count: Int) async throws {
    let (conversation, author) = (ID<Conversation>(Int(room) ?? 0), ID<User>(Int(village.id("grace")) ?? 0))
    for start in stride(from: 0, to: count, by: 200) {
      try await village.community.store.write { tx throws(Refusal) in
        for number in start..<min(start + 200, count) {
          _ = try tx.post(NewMessage(conversation: conversation, author: author, text: "\(number)"))
        }
      }
    }
  }

  /// Fetches all pages in `order`; `next` returns the query for the page after a message.
  private static func walk(
    _ village: Village, _ room: String, limit: Int, order: String, _ next: (String) -> String
  ) async throws -> [Int] {
    var seqs: [Int] = []
    var query = "order=\(order)&limit=\(limit)"
    while true {
      let page = try await village.request(.get, "/conversations/\(room)/messages?\(query)", as: "grace")
      #expect(page.status == 200, "\(page.text.prefix(300))")
      let count = page.count("data")
      seqs += (0..<count).compactMap { page.int("data.\($0).seq") }
      guard page.bool("more") == true else { return seqs }
      #expect(count == limit)
      query = "order=\(order)&limit=\(limit)&" + next(page["data.\(count - 1).id"] ?? "")
    }
  }

  @Test func `a thousand messages of one millisecond are paged by every method without loss or repeat`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let room = try await village.garden().room
      try await Self.fill(village, room, 1_000)
      let all = Array(1...1_000)
      for limit in [7, 50, 200] {
        #expect(try await Self.walk(village, room, limit: limit, order: "desc") { "before=\($0)" } == all.reversed())
        #expect(try await Self.walk(village, room, limit: limit, order: "asc") { "after=\($0)" } == all)
      }
      let path = "/conversations/\(room)/messages"
      let (now, later) = ("2027-01-15T08:00:00.000Z", "2027-01-15T08:00:00.001Z")
      #expect(try await village.request(.get, "\(path)?before_time=\(now)", as: "grace").count("data") == 0)
      let before = try await village.request(.get, "\(path)?before_time=\(later)&limit=200", as: "grace")
      #expect(before.int("data.0.seq") == 1_000 && before.bool("more") == true)
      #expect(try await village.request(.get, "\(path)?after_time=\(now)", as: "grace").count("data") == 0)
      let after = try await village.request(.get, "\(path)?after_time=2027-01-15T07:59:59.999Z&order=asc", as: "grace")
      #expect(after.int("data.0.seq") == 1 && after.count("data") == 50)
      let middle = try await village.request(.get, "\(path)?limit=200", as: "grace")["data.100.id"] ?? ""
      let around = try await village.request(.get, "\(path)?around=\(middle)&limit=11&order=asc", as: "grace")
      #expect(around["data.5.id"] == middle && around.count("data") == 11)
      #expect(around["next_older"] != nil && around["next_newer"] != nil)
      // From the middle in both directions.
      var seqs = (0..<11).compactMap { around.int("data.\($0).seq") }
      var (first, last) = (around["data.0.id"] ?? "", around["data.10.id"] ?? "")
      while true {
        let older = try await village.request(.get, "\(path)?before=\(first)&order=asc&limit=200", as: "grace")
        let newer = try await village.request(.get, "\(path)?after=\(last)&order=asc&limit=200", as: "grace")
        seqs = (0..<older.count("data")).compactMap { older.int("data.\($0).seq") } + seqs
        seqs += (0..<newer.count("data")).compactMap { newer.int("data.\($0).seq") }
        first = older["data.0.id"] ?? first
        last = newer["data.\(newer.count("data") - 1).id"] ?? last
        if older.bool("more") == false, newer.bool("more") == false { break }
      }
      #expect(seqs == all)
    }
  }

  @Test(arguments: [
    "limit=0", "limit=201", "limit=-1", "limit=x", "limit=1&limit=2", "order=up", "before=x", "before=999999",
    "after=999999", "around=999999", "before_time=x", "include_deleted=maybe",
    "after=1&before_time=2027-01-15T08:00:00Z",
    "around=1&after=2", "since=5",
  ])
  func `an invalid page request is refused`(query: String) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let answer = try await village.request(.get, "/conversations/\(room)/messages?\(query)", as: "grace")
      #expect(answer.status == 400, "\(answer.text)")
    }
  }

  @Test func `an anchor may be deleted but must be in the conversation`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let other = try await village.post("x", in: village.garden("kitchen").room)
      for number in 0..<3 { try await village.post("\(number)", in: room) }
      let path = "/conversations/\(room)/messages"
      let middle = try await village.request(.get, path, as: "grace")["data.1.id"] ?? ""
      _ = try await village.request(.delete, "/messages/\(middle)", as: "ada")
      #expect(try await village.request(.get, "\(path)?before=\(middle)", as: "grace").texts("data", "text") == ["0"])
      #expect(try await village.request(.get, "\(path)?after=\(middle)", as: "grace").texts("data", "text") == ["2"])
      let wrong = try await village.request(.get, "\(path)?before=\(other)", as: "grace")
      #expect(wrong.status == 400 && wrong["errors.0.code"] == "mismatch")
      let turned = try await village.request(.get, "\(path)?after=\(middle)&before=\(middle)", as: "grace")
      #expect(turned.status == 200 && turned.count("data") == 0 && turned.bool("more") == false)
    }
  }

  @Test func `skipped messages are reported for every combination of filters`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let gone = try await village.post("gone", in: room)
      try await village.post("machine", in: room, as: "robo", ["machine_only": true])
      try await village.post("muted", in: room, as: "linus")
      try await village.post(
        "heard", in: room, as: "mira", ["annotations": [["type": "com.example.a", "value": ["b": 1]]]])
      _ = try await village.request(.delete, "/messages/\(gone)", as: "ada")
      try await village.mute("linus", by: "grace")
      let path = "/conversations/\(room)/messages?order=asc"
      // All combinations of the four flags: rows, skipped ranges and the annotation.
      for flags in 0..<16 {
        let (deleted, machine, muted, annotations) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0, flags & 8 > 0)
        let page = try await village.request(
          .get,
          path + "&include_deleted=\(deleted)&include_machine=\(machine)&include_muted=\(muted)"
            + "&include_annotations=\(annotations)", as: "grace")
        let shown = (deleted ? [1] : []) + (machine ? [2] : []) + (muted ? [3] : []) + [4]
        #expect((0..<page.count("data")).compactMap { page.int("data.\($0).seq") } == shown)
        let skipped = (0..<page.count("skipped")).flatMap { index in
          Array((page.int("skipped.\(index).from_seq") ?? 0)...(page.int("skipped.\(index).to_seq") ?? 0))
        }
        #expect((shown + skipped).sorted() == [1, 2, 3, 4])
        #expect(page.has("data.\(shown.count - 1).annotations") == annotations)
        #expect(page.bool("more") == false)
      }
      let usual = try await village.request(.get, path, as: "grace")
      #expect((0..<usual.count("data")).compactMap { usual.int("data.\($0).seq") } == [1, 4])
    }
  }

  @Test func `blocked authors are filtered like muted ones`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await village.talk(.group, ["ada", "grace", "linus"])
      let first = try await village.post("first", in: group, as: "grace")
      try await village.post("second", in: group, as: "linus")
      try await village.post("third", in: group, as: "linus", ["reply_to": first])
      try await village.expect(204, .put, "/users/@linus/block", as: "grace")
      func read(_ name: String, _ query: String = "") async throws -> [String?] {
        let path = "/conversations/\(group)/messages?order=asc\(query)"
        return try await village.request(.get, path, as: name).texts("data", "text")
      }
      #expect(try await read("grace") == ["first"])
      #expect(try await read("grace", "&include_muted=true") == ["first", "second", "third"])
      #expect(try await read("linus") == ["first", "second", "third"])
      let page = try await village.request(.get, "/conversations/\(group)/messages", as: "grace")
      #expect(page.int("skipped.0.from_seq") == 2 && page.int("skipped.0.to_seq") == 3)
      #expect(page["skipped.0.reason"] == "muted")
      #expect(try await village.request(.get, "/messages/\(first)/replies", as: "grace").count("data") == 0)
      #expect(try await village.request(.get, "/messages/\(first)/replies", as: "ada").count("data") == 1)
      #expect(try await village.request(.get, "/conversations/\(group)", as: "grace").int("unread_count") == 0)
      #expect(try await village.request(.get, "/conversations/\(group)", as: "ada").int("unread_count") == 3)
      try await village.expect(204, .delete, "/users/@linus/block", as: "grace")
      #expect(try await read("grace") == ["first", "second", "third"])
      #expect(try await village.request(.get, "/conversations/\(group)", as: "grace").int("unread_count") == 2)
    }
  }

  @Test func `a late participant can't read earlier messages by any method`() async throws {
    try await Village.open(.inMemory) { village in
      let talk = try await village.talk(.group, ["grace", "linus"], fromSeq: ["linus": 3])
      var ids: [String] = []
      for number in 1...4 { ids.append(try await village.post("\(number)", in: talk, as: "grace")) }
      let page = try await village.request(.get, "/conversations/\(talk)/messages?order=asc", as: "linus")
      #expect(page.texts("data", "text") == ["3", "4"])
      #expect(page["skipped.0.reason"] == "before_joining" && page.int("skipped.0.to_seq") == 2)
      #expect(page["data.0.previous_message"] == ids[1])
      #expect(
        try await village.request(.get, "/conversations/\(talk)/messages?after=\(ids[0])", as: "linus").status == 400)
      let paths = ["", "/revisions", "/replies", "/receipts", "/actions"]
      for path in paths {
        #expect(try await village.request(.get, "/messages/\(ids[1])\(path)", as: "linus").status == 404, "\(path)")
      }
      #expect(try await village.request(.put, "/messages/\(ids[1])/actions/star", as: "linus").status == 404)
      #expect(
        try await village.request(.get, "/messages?ids=\(ids[1]),\(ids[2])", as: "linus").texts("data", "text") == ["3"]
      )
      let answer = try await village.request(
        .post, "/conversations/\(talk)/messages", as: "linus", ["text": "re", "reply_to": ids[1]])
      #expect(answer.status == 400 && answer["errors.0.code"] == "mismatch")
    }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `the chain of previous messages holds under concurrent changes`(seed: UInt64) async throws {
    try await Village.open(.inMemory) { village in
      var random = Steps(seed: seed)
      let room = try await village.garden().room
      var ids: [String] = []
      for number in 0..<60 { ids.append(try await village.post("\(number)", in: room, as: "grace")) }
      let path = "/conversations/\(room)/messages?limit=7&order=asc&include_machine=true"
      var (chain, query): ([(id: String, previous: String?)], String) = ([], "")
      while true {
        let page = try await village.request(.get, path + query, as: "linus")
        let count = page.count("data")
        chain += (0..<count).map { (page["data.\($0).id"] ?? "", page["data.\($0).previous_message"]) }
        guard page.bool("more") == true else { break }
        query = "&after=\(page["data.\(count - 1).id"] ?? "")"
        for _ in 0..<4 {
          let id = ids[random.next(below: ids.count)]
          switch random.next(below: 6) {
          case 0:
            _ = try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "\(random.next(below: 9))"])
          case 1: _ = try await village.request(.delete, "/messages/\(id)", as: "grace")
          case 2: _ = try await village.request(.post, "/messages/\(id)/remove", as: "mira")
          case 3: _ = try await village.request(.post, "/messages/\(id)/restore", as: "mira")
          case 4: _ = try await village.request(.put, "/messages/\(id)/actions/like", as: "linus")
          default: if ids.count < 90 { ids.append(try await village.post("more", in: room, as: "grace")) }
          }
        }
      }
      #expect(chain.first?.previous == nil)
      for (one, two) in zip(chain, chain.dropFirst()) { #expect(two.previous == one.id) }
      #expect(chain.map(\.id) == ids)
    }
  }
}

/// A seeded random number generator.
private struct Steps {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func next(below limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 33) % limit
  }
}
