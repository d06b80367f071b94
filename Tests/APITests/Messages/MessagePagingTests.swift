import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Pages verify themselves by `seq`, `previous_message` and the skipped ranges.
@Suite struct MessagePagingTests {
  @Test func `a repeated page equals a page that is read alone, after each change`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      var ids: [String] = []
      for number in 0..<12 { ids.append(try await village.post("bed \(number)", in: room, as: "grace")) }
      let poll: [String: Any] = ["options": ["Today", "Tomorrow"]]
      let asked = try await village.post("meet", in: room, as: "linus", ["poll": poll])
      let changes: [(String, () async throws -> Void)] = [
        ("an edit", { try await village.expect(200, .patch, "/messages/\(ids[3])", as: "grace", ["text": "path"]) }),
        ("a reaction", { try await village.expect(200, .put, "/messages/\(ids[4])/actions/like", as: "linus") }),
        ("a star", { try await village.expect(200, .put, "/messages/\(ids[4])/actions/star", as: "mira") }),
        ("a vote", { try await village.expect(200, .put, "/messages/\(asked)/vote", as: "grace", ["options": [1]]) }),
        ("a removal", { try await village.expect(200, .post, "/messages/\(ids[5])/remove", as: "mira") }),
        ("a mute", { try await village.expect(204, .put, "/users/@grace/mute", as: "linus") }),
        ("a deletion", { try await village.expect(200, .delete, "/messages/\(ids[6])", as: "grace") }),
        ("a message", { _ = try await village.post("more", in: room, as: "linus") }),
      ]
      let path = "/conversations/\(room)/messages?include=users&limit="
      var limit = 50
      for (name, change) in changes {
        for _ in 0..<3 { _ = try await village.request(.get, "\(path)50", as: "mira") }
        try await change()
        for viewer in ["grace", "linus", "mira", nil] {
          for _ in 0..<3 {
            // Another limit is another query, which no page is shared for.
            limit += 1
            let alone = try await village.request(.get, "\(path)\(limit)", as: viewer)
            let shared = try await village.request(.get, "\(path)50", as: viewer)
            #expect(alone.status == 200 && shared.text == alone.text, "\(viewer ?? "a visitor") after \(name)")
          }
        }
      }
    }
  }

  @Test func `shared pages belong to one version of the store and are bounded`() throws {
    func page(_ text: String) -> SharedMessagePage {
      let message = Message(
        id: ID(1), conversation: ID(1), author: ID(1), seq: 1, previous: nil, createdAt: 0,
        state: .live(.init(text: text)))
      return SharedMessagePage(
        MessagePage(
          messages: [message], older: nil, newer: nil, skipped: [], marked: [], latestSeq: 1, lastEvent: 1))
    }
    let cache = MessagePageCache(maxBytes: 10_000)
    func state(_ conversation: Int, _ version: Int) -> String {
      switch cache.page(MessageQuery(ID(conversation)), at: version) {
      case .found(let shared): shared.page.messages[0].content?.text ?? ""
      case .missing(let isRepeated): isRepeated ? "repeated" : "first"
      }
    }
    #expect(state(1, 7) == "first" && state(1, 7) == "repeated")
    cache.add(page("one"), for: MessageQuery(ID(1)), at: 7)
    #expect(state(1, 7) == "one" && state(2, 7) == "first")
    // A reader that began before the commit neither gets nor stores a page.
    #expect(state(1, 8) == "first" && state(1, 7) == "first")
    cache.add(page("late"), for: MessageQuery(ID(1)), at: 7)
    #expect(state(1, 8) == "repeated")
    for conversation in 1...9 {
      cache.add(page(String(repeating: "a", count: 1_000)), for: MessageQuery(ID(conversation)), at: 8)
    }
    #expect((1...9).count { state($0, 8).hasPrefix("aa") } < 4)
    #expect(state(9, 8).hasPrefix("aa"))
    cache.add(page(String(repeating: "a", count: 20_000)), for: MessageQuery(ID(10)), at: 8)
    #expect(state(10, 8) == "first")
  }

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

  /// The `seq` of all messages, from the page of `query` in both directions.
  private static func walk(
    _ village: Village, _ room: String, _ query: String, limit: Int
  ) async throws -> [Int] {
    let path = "/conversations/\(room)/messages?limit=\(limit)&\(query)"
    func page(_ position: String) async throws -> (seqs: [Int], answer: Answer) {
      let answer = try await village.request(.get, path + position, as: "grace")
      try #require(answer.status == 200, "\(answer.text.prefix(300))")
      return ((0..<answer.count("data")).compactMap { answer.int("data.\($0).seq") }, answer)
    }
    let first = try await page("")
    var (seqs, next, previous) = (first.seqs, first.answer["next"], first.answer["previous"])
    while let position = next {
      let found = try await page("&next=\(position)")
      // Only the first page of a bound may be empty.
      #expect(!found.seqs.isEmpty && found.seqs.count <= limit && (found.answer["previous"] != nil || seqs.isEmpty))
      seqs += found.seqs
      next = found.answer["next"]
    }
    while let position = previous {
      let found = try await page("&previous=\(position)")
      #expect(!found.seqs.isEmpty && found.seqs.count <= limit && (found.answer["next"] != nil || seqs.isEmpty))
      seqs = found.seqs + seqs
      previous = found.answer["previous"]
    }
    return seqs
  }

  @Test func `messages are paged from any bound in both directions without loss or repeat`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let room = try await village.garden().room
      // 130 messages of one millisecond, then 130 of another.
      for half in 0..<2 {
        try await Self.fill(village, room, 130)
        if half == 0 { clock.add(1) }
      }
      let all = Array(1...260)
      let some = try await village.request(.get, "/conversations/\(room)/messages?limit=200&order=asc", as: "grace")
      let (early, id) = (some["data.3.id"] ?? "", some["data.123.id"] ?? "")
      let (now, later) = ("2027-01-15T08:00:00.000Z", "2027-01-15T08:00:00.001Z")
      let bounds = [
        "", "before=\(id)", "after=\(id)", "around=\(id)", "around=\(early)", "at_time=\(now)", "at_time=\(later)",
        "at_time=2028-01-01T00:00:00Z", "before_time=\(later)", "after_time=\(now)", "before_time=\(now)",
        "after_time=\(later)",
      ]
      for bound in bounds {
        for limit in [7, 50, 200] {
          for order in ["asc", "desc"] {
            let seqs = try await Self.walk(village, room, "\(bound)&order=\(order)", limit: limit)
            #expect(seqs == (order == "asc" ? all : all.reversed()), "\(bound) \(order) \(limit)")
          }
        }
      }
      #expect(try await Self.walk(village, room, "around=\(id)&order=asc", limit: 1) == all)
      let within = "after=\(early)&before=\(id)"
      for limit in [1, 7, 50, 200] {
        #expect(try await Self.walk(village, room, "\(within)&order=asc", limit: limit) == Array(5...123))
        #expect(try await Self.walk(village, room, within, limit: limit) == Array(5...123).reversed())
      }
      let path = "/conversations/\(room)/messages"
      let at = try await village.request(.get, "\(path)?at_time=\(later)&limit=1", as: "grace")
      #expect(at.int("data.0.seq") == 131 && at.count("data") == 1)
      #expect(try await village.request(.get, "\(path)?before_time=\(now)", as: "grace").count("data") == 0)
      let before = try await village.request(.get, "\(path)?before_time=\(later)&limit=200", as: "grace")
      #expect(before.int("data.0.seq") == 130)
      #expect(try await village.request(.get, "\(path)?after_time=\(later)", as: "grace").count("data") == 0)
      let after = try await village.request(.get, "\(path)?after_time=\(now)&order=asc", as: "grace")
      #expect(after.int("data.0.seq") == 131 && after.count("data") == 50)
      let around = try await village.request(.get, "\(path)?around=\(id)&limit=11&order=asc", as: "grace")
      #expect(around["data.5.id"] == id && around.count("data") == 11)
    }
  }

  @Test func `filtered messages are neither lost nor repeated by paging`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      var ids: [String] = []
      for number in 0..<60 {
        let author = number % 5 == 0 ? "linus" : "grace"
        ids.append(try await village.post("\(number)", in: room, as: author))
      }
      for number in stride(from: 3, to: 60, by: 7) {
        try await village.expect(200, .delete, "/messages/\(ids[number])", as: number % 5 == 0 ? "linus" : "grace")
      }
      try await village.mute("linus", by: "grace")
      let shown = (0..<60).filter { $0 % 5 != 0 && $0 % 7 != 3 }.map { $0 + 1 }
      for bound in ["", "around=\(ids[30])", "after=\(ids[45])", "before=\(ids[1])", "before=\(ids[0])"] {
        for limit in [1, 4, 200] {
          let query = "\(bound)&include_deleted=false&order=asc"
          #expect(try await Self.walk(village, room, query, limit: limit) == shown, "\(bound) \(limit)")
        }
      }
    }
  }

  @Test func `pages of a message that was posted tell where they continue`() async throws {
    try await Village.open(.inMemory, bounds: Self.shortCatchUp) { village in
      let room = try await village.garden().room
      let first = try await village.post("0", in: room, as: "grace")
      for number in 1...20 { try await village.post("\(number)", in: room, as: "linus") }
      let path = "/conversations/\(room)/messages"
      let posted = try await village.request(.post, path, as: "grace", ["text": "21", "catch_up_after": first])
      var seen = posted.texts("catch_up.data", "text")
      var next = posted["catch_up.next"]
      #expect(seen.count == 3 && next != nil)
      while let position = next {
        let query = "order=asc&include_machine=true&include_muted=true&next=\(position)"
        let page = try await village.expect(200, .get, "\(path)?\(query)", as: "grace")
        seen += page.texts("data", "text")
        next = page["next"]
      }
      #expect(seen == (1...21).map { "\($0)" })
    }
  }

  private static let shortCatchUp: Bounds = {
    var bounds = Bounds()
    bounds.catchUp = 3
    return bounds
  }()

  @Test(arguments: [
    "next=x", "previous=x", "around=1&at_time=2027-01-15T08:00:00Z", "at_time=x", "limit=0", "limit=201", "limit=-1",
    "limit=x", "limit=1&limit=2", "order=up", "before=x", "before=999999",
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
      #expect(turned.status == 200 && turned.count("data") == 0 && turned.isNull("next") && turned.isNull("previous"))
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
        #expect(page.isNull("next"))
      }
      let usual = try await village.request(.get, path, as: "grace")
      #expect((0..<usual.count("data")).compactMap { usual.int("data.\($0).seq") } == [1, 4])
    }
  }

  @Test func `blocked authors are filtered like muted ones`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await village.conversation(.group, ["ada", "grace", "linus"])
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
      let conversation = try await village.conversation(.group, ["grace", "linus"], fromSeq: ["linus": 3])
      var ids: [String] = []
      for number in 1...4 { ids.append(try await village.post("\(number)", in: conversation, as: "grace")) }
      let page = try await village.request(.get, "/conversations/\(conversation)/messages?order=asc", as: "linus")
      #expect(page.texts("data", "text") == ["3", "4"])
      #expect(page["skipped.0.reason"] == "before_joining" && page.int("skipped.0.to_seq") == 2)
      #expect(page["data.0.previous_message"] == ids[1])
      #expect(
        try await village.request(.get, "/conversations/\(conversation)/messages?after=\(ids[0])", as: "linus").status
          == 400)
      let paths = ["", "/revisions", "/replies", "/receipts", "/actions"]
      for path in paths {
        #expect(try await village.request(.get, "/messages/\(ids[1])\(path)", as: "linus").status == 404, "\(path)")
      }
      #expect(try await village.request(.put, "/messages/\(ids[1])/actions/star", as: "linus").status == 404)
      #expect(
        try await village.request(.get, "/messages?ids=\(ids[1]),\(ids[2])", as: "linus").texts("data", "text") == ["3"]
      )
      let answer = try await village.request(
        .post, "/conversations/\(conversation)/messages", as: "linus", ["text": "re", "reply_to": ids[1]])
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
        guard let next = page["next"] else { break }
        query = "&next=\(next)"
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
