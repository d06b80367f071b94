import TestSupport
import Testing

@testable import ParleyModel

@Suite struct SearchQueryTests {
  private static let scope = [SearchScope.conversation(ID(9))]

  private static func words(_ text: String) throws -> String {
    let expression = SearchQuery.expression(try SearchQuery(text), in: scope)
    let (start, end) = ("{words} : (", ") AND {scope} : (\"c9\")")
    #expect(expression.hasPrefix(start) && expression.hasSuffix(end))
    return String(expression.dropFirst(start.count).dropLast(end.count))
  }

  @Test(arguments: [
    ("rose", #"("rose")"#),
    ("rose thorn", #"("rose" AND "thorn")"#),
    ("\u{3000}rose\u{a0}\n thorn ", #"("rose" AND "thorn")"#),
    (#""red rose" thorn"#, #"("red rose" AND "thorn")"#),
    (#"“red rose” „blue rose“"#, #"("red rose" AND "blue rose")"#),
    (#""red rose"#, #"("red rose")"#),
    (#"rose"thorn"leaf"#, #"("rose" AND "thorn" AND "leaf")"#),
    (#"rose """#, #"("rose")"#),
    ("ros*", #"("ros"*)"#),
    (#""red ros"*"#, #"("red ros"*)"#),
    ("ro*se", #"("ro"* AND "se")"#),
    ("rose -thorn", #"("rose") NOT ("thorn")"#),
    (#"-thorn rose -"dead leaf" -gre*"#, #"("rose") NOT ("thorn" OR "dead leaf" OR "gre"*)"#),
    ("--thorn rose", #"("rose") NOT ("thorn")"#),
    ("rose - thorn * -", #"("rose" AND "thorn")"#),
    ("well-known", #"("well-known")"#),
    ("AND OR NOT NEAR", #"("AND" AND "OR" AND "NOT" AND "NEAR")"#),
    ("words:rose", #"("words:rose")"#),
    ("rose !!! ... ()", #"("rose")"#),
    ("rose\0thorn", #"("rose" AND "thorn")"#),
    ("\"rose\0thorn\"", #"("rose thorn")"#),
    ("日", #"(" 日"*)"#),
    ("日本", #"(" 日本 ")"#),
    ("日本語", #"(" 日本 本語 ")"#),
    ("日本語x", #"(" 日本 本語 語 x")"#),
    ("日本 -語", #"(" 日本 ") NOT (" 語"*)"#),
    ("Ｒ＂x", #"("R" AND "x")"#),
  ])
  func `a query is translated to an FTS5 expression`(text: String, expected: String) throws {
    #expect(try Self.words(text) == expected)
  }

  @Test(arguments: [
    ("", SearchQuery.Fault.empty), ("   ", .empty), ("*", .empty), ("-", .empty), ("\"\"", .empty), ("!?()", .empty),
    ("\u{200d}\u{fe0f}", .empty), ("\0", .empty),
    ("-rose", .onlyExclusions), ("-\"red rose\" -x*", .onlyExclusions),
    (String(repeating: "x", count: 1_001), .tooLong(limit: 1_000)),
    (String(repeating: "日", count: 334), .tooLong(limit: 1_000)),
    (String(repeating: "a ", count: 33), .tooManyTerms(limit: 32)),
    ("a* b* -c* \"d\"* e* f* g* h* i*", .tooManyBeginnings(limit: 8)),
  ])
  func `an empty or too large query throws a typed fault`(text: String, fault: SearchQuery.Fault) {
    #expect(throws: fault) { try SearchQuery(text) }
  }

  @Test func `a query at the limits is allowed`() throws {
    #expect(try SearchQuery(String(repeating: "x", count: 1_000)).wanted.count == 1)
    #expect(try SearchQuery("a* b* -c* \"d\"* e* f* g* h* 日 本 の").wanted.count == 10)
    #expect(
      try SearchQuery(String(repeating: "a ", count: 16) + String(repeating: "-b ", count: 16)).excluded.count == 16)
  }

  @Test func `the expression has scopes, author, cells and location`() throws {
    let query = try SearchQuery("rose")
    let expression = SearchQuery.expression(
      query, in: [.conversation(ID(9)), .forum(ID(3))], having: ["a7"], in: ["g0y1x2"], at: try SearchQuery("cafe"))
    let words = #"{words} : (("rose")) AND {location} : (("cafe")) AND {scope} : ("c9" OR "f3")"#
    #expect(expression == words + #" AND {scope} : "a7" AND {scope} : ("g0y1x2")"#)
    #expect(SearchQuery.expression(nil, in: [.forum(ID(3))]) == #"{scope} : ("f3")"#)
  }

  @Test func `user input occurs only inside of quotes in the expression`() throws {
    var random = Seeded(seed: 2)
    let alphabet = Array("ab\"\"\"-*:^(){}+,\\'ANDOR \0\u{301}\u{201c}日🍕\u{ff02}é".unicodeScalars)
    for _ in 0..<20_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...30, using: &random) { text.append(alphabet.randomElement(using: &random) ?? "a") }
      guard let query = try? SearchQuery(String(text)) else { continue }
      var outside = ""
      var isQuoted = false
      for scalar in SearchQuery.expression(query, in: Self.scope).unicodeScalars {
        if scalar == "\"" { isQuoted.toggle() } else if !isQuoted { outside.unicodeScalars.append(scalar) }
        #expect(scalar != "\0")
      }
      #expect(!isQuoted)
      let rest = outside.split { " ():{}*".contains($0) }
      #expect(Set(rest).isSubset(of: ["words", "scope", "AND", "NOT", "OR"]), "\(outside)")
    }
  }
}
