import Foundation
import ParleyMarkup
import Testing

/// CommonMark's numbered examples, which `Tests/tools/commonmark` fetches. Without them the test is skipped.
private struct Example: Decodable {
  let markdown: String
  let html: String
  let example: Int
  let section: String

  static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: ".build/tools/commonmark/commonmark.json")

  static var isFetched: Bool { FileManager.default.fileExists(atPath: file.path) }
}

/// What the profile does not have.
private let otherSections: Set<String> = [
  "Indented code blocks", "HTML blocks", "Raw HTML", "Link reference definitions", "Setext headings", "Images",
]

/// Examples of what it has, that differ all the same, by the reason.
private let differences: [(reason: String, examples: [Int])] = [
  (
    "nothing is code by indentation",
    [1, 2, 3, 5, 6, 7, 8, 18, 36, 48, 69, 134, 225, 231, 236, 252, 253, 254, 257, 264, 270, 271, 272, 273, 274, 278]
      + [286, 287, 288, 289, 290, 313]
  ),
  ("a quote and an item end where their marks end", [232, 233, 238, 247, 250, 251, 291, 292, 293, 312]),
  ("a line under a text makes no heading", [59, 141, 300]),
  ("there are no references", [23, 33, 317] + Array(527...571)),
  ("HTML is text", [21, 31, 308, 309, 344, 475, 476, 477, 491, 494, 524, 642, 643]),
  (
    "only whole addresses are links",
    [
      22, 32, 484, 485, 486, 487, 489, 492, 495, 496, 498, 499, 500, 501, 502, 503, 504, 520, 522, 596, 598, 599, 600,
      601,
    ]
  ),
  (
    "addresses, mentions and hashtags stand in the text",
    [14, 64, 346, 508, 511, 513, 518, 519, 602, 606, 608, 611, 612]
  ),
  ("pictures are links", [517]),
  ("few references have names", [25]),
  ("a language is a plain word", [24, 34, 144]),
]

@Test(.enabled(if: Example.isFetched, "run Tests/tools/commonmark"))
func `CommonMark's examples give CommonMark's HTML, or are on the list of what differs`() throws {
  let examples = try JSONDecoder().decode([Example].self, from: Data(contentsOf: Example.file))
    .filter { !otherSections.contains($0.section) }
  let different = examples.filter { comparable(MarkupDocument(whole($0.markdown)).html) != comparable(whole($0.html)) }
  #expect(examples.count == 500)
  #expect(different.map(\.example) == differences.flatMap(\.examples).sorted())
}

/// With the addresses that most examples use made whole.
private func whole(_ text: String) -> String {
  text.replacing("/url", with: "https://example.org/url").replacing("/uri", with: "https://example.org/uri")
}

/// Without what links have more here, and with every line break alike.
private func comparable(_ html: String) -> String {
  html.replacing(" rel=\"nofollow noopener noreferrer ugc\"", with: "").replacing("<br />\n", with: "\n")
    .replacing("&#39;", with: "'")
}
