import ParleyModel
import ParleySQLite
import TestSupport
import Testing

@testable import ParleyModel
@testable import Storage

extension Garden {
  /// Searches the garden's room, or other scopes.
  func found(_ query: String, in scopes: [SearchScope] = [.conversation(Garden.room)]) throws -> [ID<Message>] {
    try found(MessageSearch(try SearchQuery(query), in: scopes))
  }

  func found(_ search: MessageSearch) throws -> [ID<Message>] {
    try store.reader().read { tx throws(Refusal) in try tx.search(search).ids }
  }

  /// Adds conversations: numbers from 1,000 have no forum, those below are topics of forum 100.
  func plant(_ conversations: [Int]) async throws {
    try await store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute(
          """
          insert into forum (id, title, visibility, room_id, created_by, created_at)
          values (100, 'garden', 'public', 101, 1, 0)
          on conflict do nothing
          """)
        for id in conversations {
          try connection.execute(
            """
            insert into conversation (id, kind, forum_id, created_by, created_at)
            values ($1, $2, $3, 1, 0)
            """, id, id < 1_000 ? "topic" : "group", id < 1_000 ? 100 : nil)
        }
      }
      tx.counters.id = max(tx.counters.id, conversations.max() ?? 0)
    }
  }

  func post(_ text: String, in conversation: Int, by author: ID<User> = Garden.ada) async throws -> ID<Message> {
    let message = NewMessage(conversation: ID(conversation), author: author, text: text)
    return try await store.write { tx throws(Refusal) in try tx.post(message) }.id
  }

  /// Updates the index like an edit.
  func edit(_ message: ID<Message>, to text: String) async throws {
    try await store.write { tx throws(Refusal) in
      guard let before = try tx.searchEntry(of: message) else { throw .notFound }
      try tx.run { connection in
        try connection.execute("update message set text = $1 where id = $2", text, message.number)
      }
      guard let after = try tx.searchEntry(of: message) else { throw .notFound }
      tx.searchChanges += [.remove(before), .add(after)]
    }
  }

  /// Updates the index like a deletion.
  func delete(_ message: ID<Message>) async throws {
    try await store.write { tx throws(Refusal) in
      guard let before = try tx.searchEntry(of: message) else { throw .notFound }
      try tx.run { connection in
        try connection.execute(
          "update message set text = null, deletion = 'author', deleted_at = 1 where id = $1", message.number)
      }
      tx.searchChanges.append(.remove(before))
    }
  }

  /// Changes the database directly, bypassing all rules.
  func tamper(_ change: @escaping @Sendable (Connection) throws -> Void) async throws {
    try await store.write { tx throws(Refusal) in _ = try tx.run { connection in try change(connection) } }
  }
}

@Suite struct SearchTests {
  private static let rows: [(text: String, query: String, isFound: Bool)] = [
    ("The roses are RED", "rose", false), ("The roses are RED", "roses", true), ("The roses are RED", "red", true),
    ("The roses are RED", "ros*", true), ("The roses are RED", "r*", true), ("The roses are RED", "os*", false),
    ("The roses are RED", "red roses", true), ("The roses are RED", "\"red roses\"", false),
    ("The roses are RED", "\"roses are\"", true), ("The roses are RED", "\"roses ar\"*", true),
    ("The roses are RED", "roses -red", false), ("The roses are RED", "roses -blue", true),
    ("The roses are RED", "roses -\"red roses\"", true), ("The roses are RED", "roses -re*", false),
    ("Crème brûlée", "creme", true), ("creme", "crème", true), ("Đặng Văn", "van", true),
    ("cre\u{300}me", "crème", true),
    ("ПРИВЕТ мир", "привет", true), ("ΟΔΟΣ", "οδος", true), ("straße", "STRASSE", false),
    ("don't", "don't", true), ("don't", "dont", false), ("well-known", "known", true), ("a_b", "b", true),
    ("version 6.3.1", "6.3", true), ("https://example.org/rose?x=1", "example.org/rose", true),
    // Chinese: one character, two, more, and non-adjacent ones.
    ("我喜欢玫瑰花", "玫", true), ("我喜欢玫瑰花", "花", true), ("我喜欢玫瑰花", "玫瑰", true),
    ("我喜欢玫瑰花", "喜欢玫瑰", true), ("我喜欢玫瑰花", "我玫", false), ("我喜欢玫瑰花", "花我", false),
    ("我喜欢玫瑰花", "喜欢 花", true), ("我喜欢玫瑰花", "\"喜欢 花\"", false), ("我喜欢玫瑰花", "喜欢 -玫瑰", false),
    ("我喜欢玫瑰花", "喜欢*", true), ("我喜欢玫瑰花", "桜", false), ("𠮷野家", "𠮷野", true), ("𠮷野家", "𠮷", true),
    // Japanese: kana and kanji in one run, long sounds, half width.
    ("桜の花が咲くスーパー", "花が咲", true), ("桜の花が咲くスーパー", "スーパ", true), ("桜の花が咲くスーパー", "ー", true),
    ("桜の花が咲くスーパー", "の", true), ("桜の花が咲くスーパー", "花咲", false), ("Swiftで書く", "swift", true),
    ("Swiftで書く", "swiftで", true), ("Swiftで書く", "tで", false), ("2020年の夏", "2020年", true), ("ｻｸﾗ", "ｸﾗ", true),
    ("Ｓｗｉｆｔ", "swift", true), ("swift", "Ｓｗｉｆｔ", true),
    // Korean: a noun without its particle.
    ("장미를 좋아해요", "장미", true), ("장미를 좋아해요", "장", true), ("장미를 좋아해요", "좋아해", true),
    ("장미를 좋아해요", "미좋", false),
    // Thai, Hindi, Arabic, Hebrew.
    ("ฉันรักดอกกุหลาบ", "กุหลาบ", true), ("ฉันรักดอกกุหลาบ", "ดอก", true), ("ฉันรักดอกกุหลาบ", "มะลิ", false),
    ("गुलाब लाल है", "गुलाब", true), ("गुलाब लाल है", "लल", false), ("كَتَبَ الوردة", "كتب", true), ("שָׁלוֹם", "שלום", true),
    // Emoji.
    ("pizza🍕time", "🍕", true), ("pizza🍕time", "pizza", true), ("pizza🍕time", "\"🍕 time\"", true), ("🍕🍕", "🍔", false),
    ("ok 👍🏽", "👍", true), ("ok 👍", "👍🏿", true), ("👩🏽‍💻", "💻", true), ("👩🏽‍💻", "👩‍💻", true), ("💻👩", "👩‍💻", false),
    ("❤️", "❤", true), ("🇫🇷🇺🇸", "🇺🇸", true), ("🇫🇷🇺🇸", "🇷🇺", false), ("🫠", "🫠", true), ("1️⃣", "1", true),
    ("rose 🌹", "-🌹 rose", false), ("₽100", "100", true), ("a\0b", "b", true),
  ]

  @Test func `a search examines a limited number of matches and names the last one`() async throws {
    let garden = try await Garden()
    var posted: [ID<Message>] = []
    for _ in 1...10 {
      posted.append(try await garden.post("rose").id)
      garden.clock.pass(seconds: 1)
    }
    try await garden.store.write { [posted] tx throws(Refusal) in
      try tx.run { connection in
        for message in posted {
          try connection.execute(
            "insert into action (message_id, type, user_id, created_at, message_at) values ($1, 'like', 1, 0, 0)",
            message.number)
        }
      }
    }
    for query in ["rose", nil] {
      for isAscending in [false, true] {
        let order = isAscending ? posted : posted.reversed()
        let scopes: [SearchScope] = [.conversation(Garden.room), .conversation(ID(1_000))]
        var search = MessageSearch(try query.map { try SearchQuery($0) }, in: scopes)
        if query == nil { search.action = ActionType("like") }
        search.isAscending = isAscending
        search.maxExamined = 4
        // Without a condition outside of the index the limit is that of the hits.
        if query != nil {
          let all = try garden.store.reader().read { [search] tx throws(Refusal) in try tx.search(search) }
          #expect(all.ids.count == 10 && all.examined == nil)
        }
        // No message is as new, and all but one are as old.
        search.afterTime = garden.clock.now
        for last in [order[3], order[7], nil] {
          let found = try garden.store.reader().read { [search] tx throws(Refusal) in try tx.search(search) }
          #expect(found.ids == [] && found.examined == last, "\(query ?? "like") \(isAscending)")
          if isAscending { search.after = found.examined } else { search.before = found.examined }
        }
        search.afterTime = nil
        (search.before, search.after) = (nil, nil)
        search.beforeTime = garden.clock.now - 6_000
        let found = try garden.store.reader().read { [search] tx throws(Refusal) in try tx.search(search) }
        #expect(found.ids.count == (isAscending ? 4 : 0) && found.examined == order[3])
      }
    }
    await garden.store.close()
  }

  @Test func `many actions elsewhere hide no marked message of a conversation`() async throws {
    let garden = try await Garden()
    try await garden.plant([1_000])
    var marked: [ID<Message>] = []
    for _ in 1...6 { marked.append(try await garden.post("rose").id) }
    var others: [ID<Message>] = []
    for _ in 1...10 { others.append(try await garden.post("rose", in: 1_000)) }
    let older = try await garden.post("rose", in: 1_000)
    try await garden.store.write { [all = marked + others] tx throws(Refusal) in
      try tx.run { connection in
        for message in all {
          try connection.execute(
            "insert into action (message_id, type, user_id, created_at, message_at) values ($1, 'pin', 1, 0, 0)",
            message.number)
        }
      }
    }
    for isAscending in [false, true] {
      var search = MessageSearch(nil, in: [.conversation(Garden.room)])
      search.action = ActionType("pin")
      search.isAscending = isAscending
      search.maxExamined = 4
      let found = try garden.store.reader().read { [search] tx throws(Refusal) in try tx.search(search) }
      #expect(found.ids == marked.reversed() && found.examined == nil)
      // The bounds are kept, and so is the limit of what is examined.
      (search.after, search.before) = (marked[0], marked[5])
      #expect(try garden.found(search) == marked[1...4].reversed())
      (search.after, search.before) = (nil, nil)
      search.maxExaminedMessages = 4
      let part = try garden.store.reader().read { [search] tx throws(Refusal) in try tx.search(search) }
      #expect(part.ids == (isAscending ? marked[0...3] : marked[2...5]).reversed())
      #expect(part.examined == (isAscending ? marked[3] : marked[2]))
      // Another conversation has none of these.
      var elsewhere = MessageSearch(nil, in: [.conversation(ID(1_000))])
      (elsewhere.action, elsewhere.maxExamined, elsewhere.isAscending) = (search.action, 4, isAscending)
      #expect(try garden.found(elsewhere) == others.reversed())
      #expect(try !garden.found(elsewhere).contains(older))
    }
    await garden.store.close()
  }

  @Test func `a message is found by its words`() async throws {
    let garden = try await Garden()
    for row in Self.rows {
      let message = try await garden.post(row.text)
      #expect(try garden.found(row.query).contains(message.id) == row.isFound, "\(row)")
    }
    await garden.store.close()
  }

  @Test func `only the given scopes are searched`() async throws {
    let garden = try await Garden()
    try await garden.plant([101, 102, 1_000, 1_001, 1_002])
    var messages: [Int: [ID<Message>]] = [:]
    for round in 0..<20 {
      for conversation in [101, 102, 1_000, 1_001, 1_002] {
        messages[conversation, default: []].insert(try await garden.post("the rose \(round)", in: conversation), at: 0)
      }
    }
    func sorted(_ conversations: [Int]) -> [ID<Message>] { conversations.flatMap { messages[$0] ?? [] }.sorted(by: >) }
    #expect(try garden.found("the", in: [.conversation(ID(1_000))]) == sorted([1_000]))
    #expect(
      try garden.found("the", in: [.conversation(ID(1_000)), .conversation(ID(1_002))]) == sorted([1_000, 1_002]))
    #expect(try garden.found("the", in: [.forum(ID(100))]) == sorted([101, 102]))
    #expect(try garden.found("the", in: [.forum(ID(100)), .conversation(ID(102))]) == sorted([101, 102]))
    #expect(try garden.found("the", in: [.conversation(ID(100)), .forum(ID(1_000))]) == [])
    #expect(try garden.found("the", in: []) == [])
    #expect(try garden.found("c1000 f100 a1", in: [.conversation(ID(1_000))]) == [])
    #expect(try garden.found("rose -c1000", in: [.conversation(ID(1_000))]) == sorted([1_000]))
    await garden.store.close()
  }

  @Test func `thousands of scopes are searched in one query`() async throws {
    let garden = try await Garden()
    let conversations = Array(1_000..<3_500)
    try await garden.plant(conversations)
    let messages = try await [1_003, 2_400, 3_499, 1_500].asyncMap { try await garden.post("rose", in: $0) }
    let scopes = conversations.map { SearchScope.conversation(ID($0)) }
    var search = MessageSearch(try SearchQuery("rose"), in: scopes)
    search.limit = 3
    #expect(try garden.found(search) == messages.suffix(3).reversed())
    (search.after, search.isAscending) = (messages[0], true)
    search.limit = 2
    #expect(try garden.found(search) == [messages[2], messages[1]])
    await garden.store.close()
  }

  @Test func `a search can be limited to an author`() async throws {
    let garden = try await Garden()
    _ = try await garden.post("rose")
    let hers = try await garden.post("rose", by: Garden.grace)
    var search = MessageSearch(try SearchQuery("rose"), in: [.conversation(Garden.room)])
    search.features = [.author(Garden.grace)]
    #expect(try garden.found(search) == [hers.id])
    await garden.store.close()
  }

  @Test func `pages continue from the anchor without gaps`() async throws {
    let garden = try await Garden()
    var ids: [ID<Message>] = []
    for number in 0..<25 { ids.append(try await garden.post("rose \(number)").id) }
    var search = MessageSearch(try SearchQuery("rose"), in: [.conversation(Garden.room)])
    search.limit = 10
    var seen: [ID<Message>] = []
    while let page = Optional(try garden.found(search)), !page.isEmpty {
      seen += page
      search.before = page.last
    }
    #expect(seen == ids.reversed())
    search.before = nil
    (search.after, search.isAscending) = (ids[4], true)
    #expect(try garden.found(search) == ids[5...14].reversed())
    search.before = ids[10]
    #expect(try garden.found(search) == ids[5...9].reversed())
    search = MessageSearch(try SearchQuery("rose"), in: [.conversation(Garden.room)])
    search.limit = 0
    #expect(try garden.found(search) == [])
    await garden.store.close()
  }

  @Test func `a page has a maximum size`() async throws {
    let garden = try await Garden()
    for number in 0..<(MessageSearch.maxHits + 5) { _ = try await garden.post("rose \(number)") }
    var search = MessageSearch(try SearchQuery("rose"), in: [.conversation(Garden.room)])
    search.limit = .max
    #expect(try garden.found(search).count == MessageSearch.maxHits)
    search.order = .best
    #expect(try garden.found(search).count == MessageSearch.maxHits)
    await garden.store.close()
  }

  @Test func `results are ranked, the newest first among equals`() async throws {
    let garden = try await Garden()
    let once = try await garden.post("one rose among many other flowers of the garden")
    let often = try await garden.post("rose, rose, rose")
    let earlier = try await garden.post("a rose")
    let later = try await garden.post("a rose")
    _ = try await garden.post("nothing")
    var search = MessageSearch(try SearchQuery("rose"), in: [.conversation(Garden.room)])
    search.order = .best
    #expect(try garden.found(search) == [often.id, later.id, earlier.id, once.id])
    search.before = earlier.id
    #expect(try garden.found(search) == [often.id, once.id])
    await garden.store.close()
  }

  @Test(arguments: ["rose", "バラの花", "pizza🍕", "brûlée"])
  func `edited or deleted text is not found at once`(word: String) async throws {
    let garden = try await Garden()
    let message = try await garden.post("a \(word)").id
    let other = try await garden.post("a \(word)").id
    try await garden.edit(message, to: "a tulip")
    #expect(try garden.found(word) == [other])
    #expect(try garden.found("tulip") == [message])
    try await garden.delete(other)
    try await garden.delete(message)
    for query in [word, "tulip", "a", "a*"] { #expect(try garden.found(query) == []) }
    let words = try Connection.reader(garden.folder + "/parley.db").allowingVocabulary()
    #expect(words == [])
    await garden.store.close()
  }

  @Test func `messages of deleted conversations and forums are not found at once`() async throws {
    let garden = try await Garden()
    try await garden.plant([200, 2_000])
    let topic = try await garden.post("seeds", in: 200)
    let group = try await garden.post("seeds", in: 2_000)
    let scopes: [SearchScope] = [.forum(ID(100)), .conversation(ID(200)), .conversation(ID(2_000))]
    #expect(try garden.found("seeds", in: scopes) == [group, topic])
    try await garden.write { tx throws(Refusal) in
      guard let conversation = try tx.conversation(ID(2_000)) else { throw .notFound }
      try tx.delete(conversation, by: Garden.ada)
    }
    #expect(try garden.found("seeds", in: scopes) == [topic])
    try await garden.write { tx throws(Refusal) in
      guard let forum = try tx.forum(ID(100)) else { throw .notFound }
      try tx.delete(forum, by: Garden.ada)
    }
    #expect(try garden.found("seeds", in: scopes) == [])
    await garden.store.close()
  }

  @Test func `the location of a message is indexed with it`() async throws {
    let garden = try await Garden()
    let message = try await garden.post("rose").id
    let entry = try garden.store.reader().read { tx throws(Refusal) in try tx.searchEntry(of: message) }
    let before = try #require(entry)
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute(
          """
          insert into location (message_id, conversation_id, name, latitude, longitude)
          values ($1, 3, 'Sissinghurst', 51, 0)
          """, message.number)
      }
      guard let after = try tx.searchEntry(of: message) else { throw .notFound }
      tx.searchChanges += [.remove(before), .add(after)]
    }
    #expect(try garden.found("sissinghurst rose") == [message])
    #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.searchFaults() } == [])
    await garden.store.close()
  }

  @Test func `an index of another version is rebuilt`() async throws {
    let garden = try await Garden()
    let rose = try await garden.post("バラの花").id
    let gone = try await garden.post("バラ").id
    try await garden.delete(gone)
    let machine = try await garden.post("バラ machine").id
    try await garden.tamper { connection in
      try connection.execute("update setting set value = '0' where name = 'search_version'")
      try connection.execute("update message set machine_only = 1 where id = $1", machine.number)
      try connection.execute("insert into search (search) values ('delete-all')")
      try connection.execute("insert into search (rowid, words, scope) values (77, 'バラの花', 'c3')")
    }
    await garden.store.close()
    let again = try await Garden(in: garden.folder)
    #expect(try again.found("花") == [rose])
    #expect(try again.found("バラ") == [rose])
    #expect(try again.store.reader().read { tx throws(Refusal) in try tx.searchFaults() } == [])
    await again.store.close()
    // An index of the same version is not changed.
    let connection = try Connection.writer(garden.folder + "/parley.db")
    let changes = connection.totalChanges
    try SearchIndex.rebuildIfOutdated(connection) { Issue.record("\($0)") }
    #expect(connection.totalChanges == changes)
    connection.close()
  }

  @Test func `titles and names of an older database are indexed when it is opened`() async throws {
    let garden = try await Garden()
    let topic = try await garden.write { tx throws(Refusal) in
      let forum = try tx.add(ForumDraft(title: "Garden", visibility: .members), by: Garden.ada)
      return try tx.addTopic("seeds of spring", in: forum.id, by: Garden.ada)
    }
    #expect(try garden.found("spring", in: [.forum(topicForum(garden, topic))]) == [ID(topic.number)])
    try await garden.tamper { connection in
      try connection.execute("update setting set value = '1' where name = 'search_version'")
      try connection.execute("insert into search (search) values ('delete-all')")
      try connection.execute("delete from user_term")
    }
    await garden.store.close()
    let again = try await Garden(in: garden.folder)
    #expect(try again.store.reader().read { tx throws(Refusal) in try tx.searchFaults() } == [])
    #expect(try again.found("spring", in: [.forum(topicForum(again, topic))]) == [ID(topic.number)])
    let users = try again.store.reader().read { tx throws(Refusal) in
      try tx.users(foundBy: "ad", ListSlice(limit: 2)).map(\.user.summary.id)
    }
    #expect(users == [Garden.ada])
    await again.store.close()
  }

  private func topicForum(_ garden: Garden, _ topic: ID<Conversation>) throws -> ID<Forum> {
    try #require(try garden.store.reader().read { tx throws(Refusal) in try tx.topic(topic) }).forum
  }

  private static let hostile = [
    "\"", "\"\"", "\"\"\"", "\"\"\"\"", "rose\"", "\"rose", "\"rose\"\"", "'", "''", "rose'; drop table search; --",
    "AND", "OR", "NOT", "NEAR", "rose AND", "AND rose", "rose OR thorn", "rose NOT thorn", "NOT rose",
    "NEAR(rose thorn)",
    "NEAR(rose thorn, 5)", "NEAR/2", "words:rose", "scope:c1000", "{words}:rose", "{words scope} : rose", "-words:rose",
    "{scope} : c1000", "- {scope} : c1000", "rose) OR ({scope} : c1000", "rose\") OR {scope} : (\"c1000\"",
    "\" OR \"", "\") OR (\"", "^rose", "^", "rose^", "rose + thorn", "+", "rose*", "*", "**", "*rose", "ro*se",
    "rose * *",
    "\"rose\"*", "\"rose\" *", "(", ")", "()", "((rose))", "(rose", "rose)", "{", "}", "{}", "[rose]", "<rose>", ":",
    "::",
    ":rose", "rose:", ",", "rose,thorn", ";", "\\", "\\\"", "rose\\", "$1", "?1", "@a", "%", "_", "ro%", "`rose`", "\0",
    "rose\0", "\0rose", "\"\0\"", "\"rose\0thorn\"", "\u{1}rose", "rose\u{1f}thorn", "\u{7f}", "\u{85}rose",
    "\u{feff}rose",
    "\u{202e}rose", "\u{301}", "\"\u{301}rose", "-\u{301}", "\u{201c}rose\u{201d}", "\u{ff02}rose", "\u{fffd}",
    "\u{10ffff}",
    "-", "--", "---rose", "- rose", "-\"", "-\"rose", "-*", "-rose", "-(rose)", "rank", "rowid", "search", "delete-all",
    "rose -- thorn", "/* rose */", "rose\n\nthorn", "\r\n", "🍕\"🍕", "日\"本", "日*", "-日", "c1000", "f100", "a1",
    "rose OR 1=1", "null", "0", "-0", "1e9", "rose rose rose rose rose rose rose rose", "é\"é", "🇩", "\u{200d}",
  ]

  @Test func `any input is a result or a named refusal, within its scope`() async throws {
    let garden = try await Garden()
    try await garden.plant([1_000])
    let mine = try await garden.post("a rose has a thorn").id
    _ = try await garden.post("a rose has a thorn, AND NOT OR NEAR words scope c1000 f100 a1 1 0 日 🍕", in: 1_000)
    var answers = 0
    for query in Self.hostile {
      do {
        #expect(Set(try garden.found(query)).isSubset(of: [mine]), "\(query)")
        answers += 1
      } catch let fault as SearchQuery.Fault {
        #expect([.empty, .onlyExclusions].contains(fault), "\(query)")
      }
    }
    #expect(Self.hostile.count > 100 && answers > 60)
    await garden.store.close()
  }

  @Test func `the longest queries are answered`() async throws {
    let garden = try await Garden()
    let message = try await garden.post(String(repeating: "日本語", count: 200) + " abc").id
    let long = String(repeating: "日本語", count: 111)
    #expect(try garden.found(long) == [message])
    #expect(try garden.found(String(repeating: "日 ", count: 32)) == [message])
    #expect(try garden.found("abc " + String(repeating: "-x ", count: 31)) == [message])
    await garden.store.close()
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}

extension Connection {
  /// Every word of the index.
  func allowingVocabulary() throws -> [String] {
    try allowingTemporaryTables {
      try execute("create virtual table temp.word using fts5vocab ('main', 'search', 'row')")
      return try all("select term from temp.word") { row in try row.text(0) }
    }
  }
}
