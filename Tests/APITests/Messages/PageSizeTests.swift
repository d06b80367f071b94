import ParleyMarkup
import ParleyModel
import Synchronization
import Testing

@testable import API
@testable import Community
@testable import Storage

/// A page ends at one megabyte, even below its limit.
@Suite struct PageSizeTests {
  private static let count = 60
  /// The members of a page beside its items.
  private static let envelope = 4_096

  /// A page within a megabyte, or of one item.
  private static func fits(_ page: Answer) -> Bool {
    page.count("data") == 1 || page.text.utf8.count <= ListPage<Message>.maxBytes + envelope
  }

  /// Renders to ten times its size.
  private static let text = String(repeating: "- [ ] a\n", count: 6_000)

  private static func fill(
    _ village: Village, _ room: String, _ count: Int = count, replyTo: ID<Message>? = nil
  ) async throws {
    let (conversation, author) = (ID<Conversation>(Int(room) ?? 0), ID<User>(Int(village.id("grace")) ?? 0))
    try await village.community.store.write { tx throws(Refusal) in
      for _ in 0..<count {
        var message = NewMessage(conversation: conversation, author: author, text: text)
        message.replyTo = replyTo
        _ = try tx.post(message)
      }
    }
  }

  @Test(arguments: ["", "html=true&"], ["asc", "desc"])
  func `every message is on one page, and no page of several is larger than a megabyte`(
    html: String, order: String
  ) async throws {
    // Two messages with their HTML fill a page.
    let count = html.isEmpty ? Self.count : 12
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      try await Self.fill(village, room, count)
      let path = "/conversations/\(room)/messages?\(html)limit=200&order=\(order)"
      for isAround in [false, true] {
        var start = path
        if isAround {
          let middle = try await village.request(
            .get, "/conversations/\(room)/messages?limit=1&order=asc", as: "grace")
          start = path + "&around=\(middle["data.0.id"] ?? "")"
        }
        var seqs: [Int] = []
        var page = try await village.request(.get, start, as: "grace")
        let previous = page["previous"]
        var pages = 0
        while true {
          pages += 1
          #expect(page.status == 200)
          #expect(Self.fits(page))
          let found = (0..<page.count("data")).compactMap { page.int("data.\($0).seq") }
          #expect(!found.isEmpty)
          seqs += found
          if !html.isEmpty { #expect(page["data.0.html"]?.isEmpty == false) }
          guard let next = page["next"] else { break }
          page = try await village.request(.get, path + "&next=\(next)", as: "grace")
        }
        var position = previous
        while let before = position {
          pages += 1
          let page = try await village.request(.get, path + "&previous=\(before)", as: "grace")
          seqs = (0..<page.count("data")).compactMap { page.int("data.\($0).seq") } + seqs
          position = page["previous"]
        }
        let all = Array(1...count)
        #expect(seqs == (order == "asc" ? all : all.reversed()))
        #expect(pages > 2)
      }
    }
  }

  @Test func `a list of replies ends at a megabyte`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let id = try await village.post("root", in: room)
      try await Self.fill(village, room, replyTo: ID(id))
      var ids: Set<String> = []
      var page = try await village.request(.get, "/messages/\(id)/replies?limit=200", as: "grace")
      #expect(page.count("data") < 30)
      while true {
        for index in 0..<page.count("data") { #expect(ids.insert(page["data.\(index).id"] ?? "").inserted) }
        guard let next = page["next"] else { break }
        page = try await village.request(.get, "/messages/\(id)/replies?limit=200&next=\(next)", as: "grace")
      }
      #expect(ids.count == Self.count)
    }
  }

  @Test func `every list of messages ends at a megabyte and continues`() async throws {
    try await Village.open(.inMemory) { village in
      let (room, feed) = (try await village.garden().room, try await village.feed(of: "grace"))
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
      let text = "@linus " + String(repeating: "wool ", count: 3_000)
      for number in 0..<Self.manyCount {
        let id = try await village.post(text, in: room, as: "grace")
        try await village.expect(200, .put, "/messages/\(id)/actions/star", as: "linus")
        // A user has at most fifty open reports.
        let reporter = number < 50 ? "linus" : "mira"
        try await village.expect(201, .post, "/reports", as: reporter, ["message_id": id, "reason": "Long."])
        _ = try await village.post(text, in: feed, by: "grace")
        if number == 0 {
          for count in 0..<Self.manyCount {
            try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["text": "\(text)\(count)"])
          }
          // Its revision of the creation is one more.
          try await Self.walk(village, "/messages/\(id)/revisions", "revision", as: "grace", count: Self.manyCount)
        }
      }
      for (path, member, name) in [
        ("/me/actions?type=star", "id", "linus"),
        ("/messages/search?q=wool&conversation=\(room)", "message.id", "linus"),
        ("/messages/search?q=wool&conversation=\(room)&after=1", "message.id", "linus"), ("/inbox", "id", "linus"),
        ("/timeline/global", "id", "linus"), ("/reports", "id", "ada"),
      ] {
        try await Self.walk(village, path, member, as: name, count: Self.manyCount)
      }
      let stream = "/streams/conversation:\(room)/events"
      let last = try await village.request(.get, "\(stream)?limit=1", as: "linus").int("last_offset") ?? 0
      try await Self.walk(village, stream, "offset", as: "linus", count: last)
    }
  }

  @Test func `reposts count with their posts, and conversations with their last messages`() async throws {
    try await Village.open(.inMemory) { village in
      let feed = try await village.feed(of: "grace")
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
      let text = String(repeating: "🧶", count: 15_000)
      for number in 0..<Self.fewCount {
        let post = try await village.post(text, in: feed, as: "grace")
        try await village.repost(post, as: "linus")
        let group = try await village.conversation(
          "group", by: "grace", with: ["linus", "mira"], ["title": "\(number)"])
        _ = try await village.post(text, in: group, as: "grace")
      }
      let reposts = try #require(try await village.expect(200, .get, "/users/@linus/feed", as: "linus")["id"])
      for (path, name) in [
        ("/timeline/global?include=messages", "mira"),
        ("/conversations/\(reposts)/messages?include=messages", "linus"),
        ("/conversations?kind=group&include=messages", "mira"),
      ] {
        try await Self.walk(village, path, "id", as: name, count: Self.fewCount)
      }
    }
  }

  @Test func `a snapshot ends where its last messages are too long`() async throws {
    var bounds = Bounds()
    bounds.snapshotBytes = 100_000
    try await Village.open(.inMemory, bounds: bounds) { village in
      _ = try await village.feed(of: "linus")
      var groups: [String] = []
      for number in 0..<5 {
        groups.append(try await village.conversation("group", by: "grace", with: ["linus"], ["title": "\(number)"]))
        _ = try await village.post(String(repeating: "🧶", count: 10_000), in: groups[number], as: "grace")
      }
      let snapshot = try await village.expect(200, .get, "/snapshot", as: "linus")
      #expect(snapshot.bool("more_conversations") == true)
      #expect(snapshot.texts("conversations", "kind") == ["feed", "group", "group"])
      #expect(snapshot.texts("conversations", "id").dropFirst() == [groups[4], groups[3]])
    }
  }

  @Test func `messages by their ids are whole, and count against the memory budget`() async throws {
    for memory in [1 << 20, 4 << 20] {
      try await Village.open(.inMemory, memory: memory) { village in
        let room = try await village.garden().room
        try await Self.fill(village, room)
        let page = try await village.request(.get, "/conversations/\(room)/messages?limit=60", as: "grace")
        var ids = page.texts("data", "id").compactMap(\.self)
        var next = page["next"]
        while let position = next {
          let page = try await village.request(.get, "/conversations/\(room)/messages?next=\(position)", as: "grace")
          ids += page.texts("data", "id").compactMap(\.self)
          next = page["next"]
        }
        let answer = try await village.request(.get, "/messages?ids=\(ids.joined(separator: ","))", as: "grace")
        #expect(ids.count == Self.count && answer.status == (memory > 2 << 20 ? 200 : 503))
        if answer.status == 200 { #expect(answer.texts("data", "id") == ids) }
        let few = try await village.request(.get, "/messages?ids=\(ids.prefix(5).joined(separator: ","))", as: "grace")
        #expect(few.status == 200 && few.count("data") == 5)
      }
    }
  }

  private static let manyCount = 100
  private static let fewCount = 30

  /// Follows a list to its end and back. Each item is on one page each way, and no page of several is larger than a megabyte.
  private static func walk(
    _ village: Village, _ path: String, _ member: String, as name: String, count: Int
  ) async throws {
    let base = path + (path.contains("?") ? "&" : "?") + "limit=200"
    var page = try await village.request(.get, base, as: name)
    for direction in ["next", "previous"] {
      var (found, pages): (Set<String>, Int) = ([], 0)
      while true {
        pages += 1
        #expect(page.status == 200 && Self.fits(page), "\(path) \(page.text.utf8.count) \(page.text.prefix(200))")
        let items = (0..<page.count("data")).compactMap { index in
          let path = "data.\(index).\(member)"
          return page[path] ?? page.int(path).map(String.init)
        }
        #expect(!items.isEmpty)
        for item in items { #expect(found.insert(item).inserted, "\(path) has \(item) twice") }
        guard let position = page[direction] else { break }
        page = try await village.request(.get, "\(base)&\(direction)=\(position)", as: name)
      }
      #expect(found.count == count && pages > 1, "\(path) \(direction): \(found.count) items, \(pages) pages")
    }
  }

  @Test func `HTML of a page beyond its bound is left out, and rendered only once`() async throws {
    let renderings = Mutex(0)
    let renderer = HTMLRenderer { content in
      renderings.withLock { $0 += 1 }
      return MarkupDocument(content.text).html
    }
    let views = (1...16).map { number in
      MessageView(
        Message(
          id: ID(number), conversation: ID(1), author: ID(1), seq: number, previous: nil, createdAt: 0,
          state: .live(.init(text: Self.text))))
    }
    let rendered = try await renderer.addHTML(to: views, for: .user(ID(1)))
    // The first HTML and the texts are a page.
    #expect(rendered.map { $0.html != nil } == [true] + Array(repeating: false, count: 15))
    #expect(rendered[0].html?.contains("<li>") == true)
    #expect(try await renderer.addHTML(to: views, for: .user(ID(1))).map(\.html) == rendered.map(\.html))
    #expect(renderings.withLock { $0 } == 1)
  }

  @Test func `a page of a conversation ends where its HTML reaches a megabyte`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      // Ten of them are within the bound of text.
      let text = String(repeating: "\"\u{1}", count: 6_000)
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
      for _ in 0..<30 { _ = try await village.post(text, in: room) }
      try await Self.walk(village, "/conversations/\(room)/messages?html=true", "seq", as: "grace", count: 30)
      try await Self.walk(
        village, "/conversations/\(room)/messages?include_deleted=true", "seq", as: "grace", count: 30)
    }
  }

  @Test func `polls of messages count`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let (conversation, author) = (ID<Conversation>(Int(room) ?? 0), ID<User>(Int(village.id("grace")) ?? 0))
      // Two hundred of the texts are less than a page, with their polls more.
      let text = String(repeating: "Which? ", count: 400)
      let option = String(repeating: "🧶", count: Poll.maxOptionScalars)
      try await village.community.store.write { tx throws(Refusal) in
        for _ in 0..<210 {
          var message = NewMessage(conversation: conversation, author: author, text: text)
          message.poll = Poll(PollDraft(Array(repeating: option, count: Poll.optionCounts.upperBound)))
          _ = try tx.post(message)
        }
      }
      try await Self.walk(village, "/conversations/\(room)/messages?order=asc", "seq", as: "grace", count: 210)
    }
  }
}
