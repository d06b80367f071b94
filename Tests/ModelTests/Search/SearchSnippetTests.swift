import TestSupport
import Testing

@testable import ParleyModel

@Suite struct SearchSnippetTests {
  /// The snippet with hits in brackets and dots at cut ends.
  private static func highlighted(_ text: String, _ query: String, length: Int = 160) throws -> String {
    let snippet = SearchSnippet(of: text, for: try SearchQuery(query), length: length)
    let pieces = snippet.pieces.map { $0.isHit ? "[\($0.text)]" : $0.text }.joined()
    return (snippet.isCutBefore ? "…" : "") + pieces + (snippet.isCutAfter ? "…" : "")
  }

  @Test(arguments: [
    ("Red roses, red Rose", "rose", "Red roses, red [Rose]"),
    ("Red roses, red Rose", "ros*", "Red [roses], red [Rose]"),
    ("Red roses, red Rose", "red", "[Red] roses, [red] Rose"),
    ("red rose, rose red", #""rose red""#, "red rose, [rose red]"),
    ("red, rose", #""red rose""#, "[red, rose]"),
    ("red rose", "red rose", "[red] [rose]"),
    ("red rose -", "rose -thorn", "red [rose] -"),
    ("Crème BRÛLÉE", "brulee creme", "[Crème] [BRÛLÉE]"),
    ("cre\u{300}me brulee", "crème BRÛLÉ*", "[cre\u{300}me] [brulee]"),
    ("Ελλάδας ΕΛΛΆΔΑΣ", "ελλάδας", "[Ελλάδας] [ΕΛΛΆΔΑΣ]"),
    ("日本語を学ぶ", "本語", "日[本語]を学ぶ"),
    ("日本語を学ぶ", "学", "日本語を[学]ぶ"),
    ("한국어를 공부", "한국어", "[한국어]를 공부"),
    ("Swiftを学ぶ", "swift", "[Swift]を学ぶ"),
    ("a 👍🏽 b", "👍", "a [👍🏽] b"),
    ("👩🏽‍💻!", "💻", "[👩🏽‍💻]!"),
    ("🇫🇷🇺🇸", "🇺🇸", "🇫🇷[🇺🇸]"),
    ("🇫🇷🇺🇸", "🇷🇺", "🇫🇷🇺🇸"),
    ("Ｓｗｉｆｔ", "swift", "[Ｓｗｉｆｔ]"),
    ("Donau\u{ad}dampf", "donaudampf", "[Donau\u{ad}dampf]"),
    ("nothing here", "rose", "nothing here"),
    ("", "rose", ""),
  ])
  func `a snippet highlights the hits`(text: String, query: String, expected: String) throws {
    #expect(try Self.highlighted(text, query) == expected)
  }

  @Test(arguments: [
    ("one two three four five six seven", "one", "[one] two three four f…"),
    ("one two three four five six seven", "five", "…four [five] six seven"),
    ("one two three four five six seven", "seven", "…four five six [seven]"),
    ("one two three four five six seven", "nine", "one two three four f…"),
    ("rose rose rose rose rose rose thorn rose", "thorn", "…rose rose [thorn] rose"),
    ("abcdefghijklmnopqrstuvwxyzabcd", "abcdef*", "[abcdefghijklmnopqrst]…"),
  ])
  func `the snippet of a long text shows the best range`(text: String, query: String, expected: String) throws {
    let shown = try Self.highlighted(text, query, length: 20)
    #expect(shown == expected)
  }

  @Test func `the best range has the largest number of different terms`() throws {
    let filler = String(repeating: "leaf ", count: 100)
    let shown = try Self.highlighted("rose " + filler + "rose and thorn " + filler, "rose thorn", length: 40)
    #expect(shown.contains("[rose] and [thorn]"))
  }

  @Test func `the pieces of a snippet form a contiguous part of the text`() throws {
    var random = Seeded(seed: 3)
    let alphabet = Array("ab é日本👩‍💻🇩🇪!-\u{301}\u{200d}\n".unicodeScalars)
    let queries = try ["a", "b*", "日本", "é", "👩", "🇩🇪", "\"a b\" 本"].map { try SearchQuery($0) }
    for _ in 0..<5_000 {
      var scalars = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        scalars.append(alphabet.randomElement(using: &random) ?? "a")
      }
      let text = String(scalars)
      for query in queries {
        let snippet = SearchSnippet(of: text, for: query, length: 20)
        let shown = Array(snippet.pieces.map(\.text).joined().unicodeScalars)
        #expect(snippet.pieces.allSatisfy { !$0.text.isEmpty })
        let (start, end) = (snippet.isCutBefore, snippet.isCutAfter)
        let all = Array(text.unicodeScalars)
        #expect(start || all.starts(with: shown))
        #expect(end || all.reversed().starts(with: shown.reversed()))
        #expect(text.count <= 20 ? !start && !end : start || end)
      }
    }
  }

  @Test func `a text with more hits or fewer other words scores higher`() throws {
    let query = try SearchQuery("rose thorn")
    let filler = String(repeating: "leaf ", count: 40)
    let texts = ["rose thorn rose thorn", "rose thorn", "rose thorn " + filler, "rose " + filler, "leaf"]
    let scores = texts.map { query.score(of: $0) }
    #expect(scores == scores.sorted(by: >) && Set(scores).count == scores.count)
    #expect(scores.last == 0)
  }
}
