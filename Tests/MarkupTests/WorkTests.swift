import Testing

@testable import ParleyMarkup

/// Inputs that were slow in other parsers, each with a repeated piece.
private let adversarial: [(name: String, start: String, piece: String)] = [
  ("stars", "", "*"), ("opening stars", "", "*a "), ("two kinds of opening delimiters", "", "*a_ "),
  ("closing delimiters after an unmatched one", "a**b", "c* "),
  ("delimiters that open and close", "", "a***b**c_d__e~~f||g"),
  ("three stars against two", "", "***a** b "), ("brackets", "", "["), ("closing brackets", "", "]"),
  ("empty brackets", "", "[]"), ("pictures", "", "!["), ("link openers", "", "[a]("), ("angle openers", "", "[a](<"),
  ("openers with an address", "", "[a](b"), ("titles without an end", "", "[a](b \""),
  ("two kinds of titles", "", "[a](b '\""),
  ("titles in parentheses", "", "[a](b ("), ("parentheses", "[a](", "("), ("links", "", "[a](https://b)"),
  ("pictures around links", "", "![![[a](https://b)"), ("addresses in brackets", "[", "https://a.b "),
  ("names in pictures", "![![![![", "@a #b ](https://c)"), ("backticks", "", "`"),
  ("runs of backticks", "", "`` ` ``` "),
  ("angle brackets", "", "<a"), ("open addresses", "", "<https://a"), ("references", "", "&#x"),
  ("ampersands", "", "&"),
  ("backslashes", "", "\\"), ("bare schemes", "", "http://;"), ("bare addresses", "", "https://a.b/("),
  ("dots after an address", "https://a.b/", "."), ("hosts", "", "www."), ("hosts that fail", "", "www.;"),
  ("long hosts", "", "www.a-"), ("mail", "", "a@"), ("mailboxes", "", "a.b+c_"), ("domains", "a@", "b."),
  ("names", "@", "a"),
  ("names with joiners", "@", "a."), ("mentions", "", "@a"), ("hashtags", "", "#a"),
  ("underscores of a hashtag", "#", "_"),
  ("joiners", "#", "a\u{200d}"), ("blank lines", "", "\n"), ("spaces", "", " "), ("tabs", "", "\t"),
  ("quotes", "", ">"),
  ("quotes in lines", "", "> > > > > > > > > > > > > > > > > > a\n"), ("bullets", "", "- "), ("numbers", "", "1. "),
  ("bullets in lines", "", "- - - - - - - - - - - - - - - - - - a\n"),
  ("rules that fail", "", "* * * * * * * * * * * * * * * * * a\n"),
  (
    "wide indentation", "- - - - - - - - - - - - - - - - a\n",
    "                                                        a\n"
  ),
  ("alternating quotes and items", "", "> - > - > - a\n- > - > - > b\n"), ("fences", "", "```\n"),
  ("headings", "", "# "),
  ("closing runs of headings", "# a ", "#"), ("cells", "a|b\n-|-\n", "|"), ("rows", "a|b\n-|-\n", "|\n"),
  ("delimiter rows", "a|b\n", "-|"), ("tables", "", "a|b\n-|-\n"),
  ("delimiter rows of another width", "a|a\n", "-|-|-\n"),
  ("delimiters in cells", "a|b\n-|-\n", "`|*|[|\n"), ("East Asian delimiters", "", "**漢。"),
]

private func text(_ start: String, _ piece: String, scalars: Int) -> String {
  let count = max(1, (scalars - start.unicodeScalars.count) / piece.unicodeScalars.count)
  return start + String(repeating: piece, count: count)
}

@Test(arguments: adversarial.map(\.name))
func `the work for an adversarial text is linear in its length`(name: String) throws {
  let row = try #require(adversarial.first { $0.name == name })
  let short = text(row.start, row.piece, scalars: 16_000)
  let long = text(row.start, row.piece, scalars: 128_000)
  let stepsOfShort = Double(MarkupDocument(short).steps) / Double(short.utf8.count)
  let stepsOfLong = Double(MarkupDocument(long).steps) / Double(long.utf8.count)
  #expect(stepsOfShort < 20)
  #expect(stepsOfLong < stepsOfShort * 1.1 + 1)
}

@Test(arguments: adversarial.map(\.name))
func `the output for an adversarial text is bounded by a multiple of its length`(name: String) throws {
  let row = try #require(adversarial.first { $0.name == name })
  let text = text(row.start, row.piece, scalars: 16_000)
  let document = MarkupDocument(text)
  #expect(document.html.utf8.count < text.utf8.count * 12)
  #expect(document.plainText().utf8.count < text.utf8.count * 8)
  try HTMLChecker.check(document.html)
}

@Test func `a megabyte of all adversarial texts takes linear work`() {
  let pieces = adversarial.map { text($0.start, $0.piece, scalars: 1_000) }.joined()
  let document = MarkupDocument(text("", pieces, scalars: 1_000_000))
  #expect(document.steps < 1_000_000 * 8)
}

@Test func `a table is no wider than its source`() {
  let table = "|" + String(repeating: "a|", count: 4_000) + "\n|" + String(repeating: "-|", count: 4_000) + "\n"
  let rows = table + String(repeating: "|\n", count: 4_000)
  #expect(MarkupDocument(rows).html.utf8.count < rows.utf8.count * 15)
}
