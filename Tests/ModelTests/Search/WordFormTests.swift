import ParleyModel
import TestSupport
import Testing

@testable import ParleyModel

/// A case of `Tests/Contract/wordforms.json`, which also tests the JavaScript library.
struct WordFormCase: Decodable, Sendable, CustomTestStringConvertible {
  let language: String
  let word: String
  let forms: [String]

  var testDescription: String { "\(language) \(word)" }

  static var all: [WordFormCase] { get throws { try Checkout.cases("wordforms.json") } }
}

@Suite struct WordFormTests {
  @Test(arguments: try WordFormCase.all)
  func `a word has its other forms`(example: WordFormCase) {
    #expect(WordForms.forms(of: example.word, in: example.language) == example.forms)
  }

  @Test(arguments: [
    ("tomato", "en", "Two tomatoes"), ("tomatoes", "en", "one tomato"), ("stories", "en", "A STORY"),
    ("planting", "en", "we planted it"), ("carry", "en", "carried"), ("stop", "en", "it stopped"),
    ("Buch", "de", "viele Bücher"), ("Kindern", "de", "ein Kind"), ("Tomaten", "de-AT", "eine Tomate"),
    ("cheval", "fr", "des chevaux"), ("flores", "es", "una flor"), ("luz", "es", "las luces"),
  ])
  func `a search finds the other forms of a word in a known language`(query: String, language: String, text: String)
    throws
  {
    #expect(try SearchQuery(query, language: language).isFound(in: text))
    #expect(try !SearchQuery(query).isFound(in: text))
    #expect(try !SearchQuery("\"\(query)\"", language: language).isFound(in: text))
    #expect(try SearchQuery(query, language: language).isFound(in: query))
    let snippet = SearchSnippet(of: text, for: try SearchQuery(query, language: language))
    #expect(snippet.pieces.contains { $0.isHit })
  }

  @Test func `excluded words, phrases and beginnings have no other forms`() throws {
    #expect(try SearchQuery("garden -tomato", language: "en").isFound(in: "garden tomatoes"))
    #expect(try !SearchQuery("\"ripe tomato\"", language: "en").isFound(in: "ripe tomatoes"))
    #expect(try SearchQuery("tomato*", language: "en").isFound(in: "tomatoes"))
  }

  @Test func `many words stay a bounded query`() throws {
    let words = (0..<SearchQuery.maxTerms).map { "word\(String(repeating: "x", count: $0))" }
    let query = try SearchQuery(words.joined(separator: " "), language: "de")
    #expect(query.wanted.map(\.forms.count).reduce(0, +) == SearchQuery.maxForms)
  }
}
