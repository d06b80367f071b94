import ParleySQLite
import TestSupport
import Testing

@testable import ParleyModel
@testable import Storage

/// `Model`'s tokenizer agrees with FTS5's.
@Suite struct SearchAgreementTests {
  /// The words that the garden's index has of these texts, by number.
  private static func words(of texts: [String]) async throws -> [Int: [String]] {
    let garden = try await Garden()
    let folder = garden.folder
    await garden.store.close()
    let connection = try Connection.writer(folder + "/parley.db")
    defer { connection.close() }
    try connection.transaction {
      for (number, text) in texts.enumerated() {
        try connection.execute("insert into search (rowid, words) values ($1, $2)", number, text)
      }
    }
    try connection.execute("create virtual table temp.word using fts5vocab ('main', 'search', 'instance')")
    var words: [Int: [(Int, String)]] = [:]
    try connection.each("select doc, offset, term from temp.word") { row in
      words[try row.int(0), default: []].append((try row.int(1), try row.text(2)))
    }
    return words.mapValues { $0.sorted { $0.0 < $1.0 }.map(\.1) }
  }

  @Test func `every character of an unspaced script, and every symbol, is a letter of a word`() async throws {
    var letters: [Unicode.Scalar] = []
    for value in UInt32(0)...0x10_ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      switch SearchCharacter(scalar) {
      case .unspaced: letters.append(scalar)
      case .symbol(let letter), .flagHalf(let letter): letters.append(letter)
      case .plain, .wide, .dropped: break
      }
    }
    // Between two letters a separator would make two words.
    let texts = stride(from: 0, to: letters.count, by: 1_000).map { start in
      letters[start..<min(start + 1_000, letters.count)].map { "x\($0)x" }.joined(separator: " ")
    }
    let words = try await Self.words(of: texts).values.joined()
    #expect(words.count == letters.count)
    #expect(words.allSatisfy { $0.unicodeScalars.count == 3 })
  }

  @Test func `case and accents are folded like in the index`() async throws {
    let scalars = [0x80...0x2ff, 0x370...0x52f, 0x531...0x587, 0x10a0...0x10ff, 0x1e00...0x1fff, 0x2c00...0x2cff]
      .joined().compactMap { Unicode.Scalar(UInt32($0)) }
      .filter { SearchCharacter($0) == .plain && SearchFolding.isLetter($0) }
    let words = try await Self.words(of: scalars.map { "q\($0)" })
    var unequal: [String] = []
    for (number, scalar) in scalars.enumerated() {
      let folded = "q\(SearchFolding.fold(scalar))"
      if words[number]?.first.map({ Array($0.unicodeScalars) }) != Array(folded.unicodeScalars) {
        unequal.append(String(scalar.value, radix: 16))
      }
    }
    #expect(scalars.count > 1_500)
    // Capitals that are newer than the tokenizer's table.
    #expect(unequal == ["37f", "528", "52a", "52c", "52e", "2c2f"])
  }

  /// One matching rule, implemented twice: in FTS5 over prepared words, and here over the words of the text.
  @Test func `a message is found exactly when its text matches the query`() async throws {
    var random = Seeded(seed: 4)
    let parts = [
      "a", "B", "ab", "é", "E\u{301}", "日", "本", "の", "ー", "한", "국", "ก", "า", "🍕", "👍🏽", "👩‍💻", "🇫🇷", "🇺🇸", "❤️", "1", "Ａ",
      " ", " ", " ", " ", "-", "!", "\u{ad}", "\n", "हि",
    ]
    func text(_ count: ClosedRange<Int>) -> String {
      (0..<Int.random(in: count, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }
    let garden = try await Garden()
    var texts: [(id: ID<Message>, text: String)] = []
    for _ in 0..<300 {
      let text = text(0...12)
      texts.append((try await garden.post(text).id, text))
    }
    let marks = ["", "", "", "\"", "-", "*"]
    var hits = 0
    for _ in 0..<1_500 {
      let typed = (0..<Int.random(in: 1...2, using: &random)).map { _ in
        let mark = marks.randomElement(using: &random) ?? ""
        let text = text(1...3)
        return mark == "*" ? text + "*" : mark == "\"" ? "\"\(text)\"" : mark + text
      }.joined(separator: " ")
      guard let query = try? SearchQuery(typed) else { continue }
      let expected = texts.filter { Self.wants(query, $0.text) }.map(\.id).suffix(MessageSearch.maxHits)
      let found = try garden.found(MessageSearch(query, in: [.conversation(Garden.room)]))
      hits += found.count
      let differing = Set(found).symmetricDifference(expected)
      #expect(
        found == expected.reversed(),
        "\(typed.debugDescription): \(texts.filter { differing.contains($0.id) }.map(\.text))")
    }
    #expect(hits > 5_000)
    #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.searchFaults() } == [])
    await garden.store.close()
  }

  private static func wants(_ query: SearchQuery, _ text: String) -> Bool {
    let words = SearchWord.words(of: text)
    guard Set(query.hits(in: words).map(\.term)).count == query.wanted.count else { return false }
    return query.excluded.allSatisfy { term in !words.indices.contains { term.end(in: words, from: $0) != nil } }
  }
}
