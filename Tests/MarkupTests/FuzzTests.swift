import Foundation
import ParleyMarkup
import TestSupport
import Testing

/// Fragments of markup, combined at random. `PARLEY_FUZZ_ROUNDS` sets the number of rounds.
private let fragments = [
  "*", "**", "_", "__", "~~", "||", "|", "`", "``", "```", "~~~", "\n", "\n\n", "\n> ", "> ", "\n- ", "- ", "1. ",
  "\n1. ",
  "  ", "    ", "\t", "# ", "\n# ", "---", "\n---\n", "|-|-|", "\n|-|\n", "[", "]", "](", "![", "(", ")", "<", ">",
  "</p>",
  "[a](https://example.org)", "](https://example.org)", "https://", "http://a", "www.", "www.a.b", "example.org/",
  "mailto:",
  "javascript:", "data:", "@", "@ada", "@ada.", "#", "#tag", "ada@example.org", "\\", "\\\n", "&", "&amp;", "&#10;",
  "&#0;",
  "&lt;", "\"", "'", " \"title\")", "\" onclick=\"", "<script>", "<img src=x onerror=y>", "\u{0}", "\u{1}", "\u{7f}",
  "\r",
  "\r\n", "a", "word", " ", "é", "漢", "。", "😀", "\u{202e}", "\u{200d}", "\u{a0}", "\u{2028}", "[ ] ", "[x] ", "\\|",
  ":", "](attachment:1)", "![a](attachment:2)", "(attachment:",
]

@Test
func `for every input the HTML is well-formed with listed tags and bounded depth, and entities match the text`()
  throws
{
  let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap(Int.init) ?? 5_000
  let cases = try MarkupCase.all.map(\.text)
  var random = Seeded(seed: 41)
  for round in 0..<rounds {
    let text = round % 2 == 0 ? combined(&random) : mutated(cases.randomElement(using: &random) ?? "", &random)
    do {
      try check(text)
    } catch {
      Issue.record("\(error) in round \(round): \(text.debugDescription)")
      return
    }
  }
}

private func combined(_ random: inout Seeded) -> String {
  (0..<Int.random(in: 1...40, using: &random)).map { _ in fragments.randomElement(using: &random) ?? "" }.joined()
}

private func mutated(_ text: String, _ random: inout Seeded) -> String {
  var scalars = Array(text.unicodeScalars.prefix(400))
  for _ in 0..<Int.random(in: 1...6, using: &random) {
    let position = Int.random(in: 0...scalars.count, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: scalars.insert(contentsOf: (fragments.randomElement(using: &random) ?? "").unicodeScalars, at: position)
    case 1: scalars.removeSubrange(position..<min(scalars.count, position + Int.random(in: 0...5, using: &random)))
    default:
      let end = min(scalars.count, position + Int.random(in: 0...20, using: &random))
      scalars.insert(contentsOf: scalars[position..<end], at: Int.random(in: 0...scalars.count, using: &random))
    }
  }
  var view = String.UnicodeScalarView()
  view.append(contentsOf: scalars)
  return String(view)
}

private func check(_ text: String) throws {
  let document = MarkupDocument(text)
  // A container has at most two elements; a paragraph, a table's four and a link are added.
  let depth = try HTMLChecker.check(document.html)
  try HTMLChecker.check(document.html(pictures: ["/a\"b", "/b?c&d"]))
  #expect(depth <= 2 * MarkupLimits.containers + MarkupLimits.emphasis + 6)
  let scalars = Array(text.unicodeScalars)
  var end = 0
  for entity in document.entities {
    #expect(entity.position >= end && entity.length > 0)
    end = entity.position + entity.length
    try #require(end <= scalars.count)
    let written = String(String.UnicodeScalarView(scalars[entity.position..<end]))
    switch entity.kind {
    case .mention: #expect(written == "@" + entity.value)
    case .hashtag: #expect(written == "#" + entity.value)
    case .link:
      #expect(
        document.html.contains("<a href=\"" + entity.value.replacing("&", with: "&amp;").replacing("'", with: "&#39;")))
    }
  }
  #expect(document.plainText(limit: 20).unicodeScalars.count <= 20)
}
