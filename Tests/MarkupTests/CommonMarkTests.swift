import Foundation
import ParleyMarkup
import TestSupport
import Testing

/// CommonMark's numbered examples, downloaded by `Tests/tools/commonmark`. Without them the test is skipped.
private struct Example: Decodable {
  let markdown: String
  let html: String
  let example: Int
  let section: String

  static let file = Checkout.root.appending(path: ".build/tools/commonmark/commonmark.json")

  static var isFetched: Bool { FileManager.default.fileExists(atPath: file.path) }
}

/// Sections outside the profile.
private let excludedSections: Set<String> = [
  "Indented code blocks", "HTML blocks", "Raw HTML", "Link reference definitions", "Setext headings", "Images",
]

/// Examples in the profile's sections with a different result, by reason.
private let differences: [(reason: String, examples: [Int])] = [
  (
    "no indented code",
    [1, 2, 3, 5, 6, 7, 8, 18, 36, 48, 69, 134, 225, 231, 236, 252, 253, 254, 257, 264, 270, 271, 272, 273, 274, 278]
      + [286, 287, 288, 289, 290, 313]
  ),
  ("no lazy continuation", [232, 233, 238, 247, 250, 251, 291, 292, 293, 312]),
  ("no setext headings", [59, 141, 300]),
  ("no link reference definitions", [23, 33, 317] + Array(527...571)),
  ("no raw HTML", [21, 31, 308, 309, 344, 475, 476, 477, 491, 494, 524, 642, 643]),
  (
    "only absolute addresses are links",
    [
      22, 32, 484, 485, 486, 487, 489, 492, 495, 496, 498, 499, 500, 501, 502, 503, 504, 520, 522, 596, 598, 599, 600,
      601,
    ]
  ),
  (
    "bare addresses, mentions and hashtags are recognized",
    [14, 64, 346, 508, 511, 513, 518, 519, 602, 606, 608, 611, 612]
  ),
  ("pictures are links", [517]),
  ("few named references", [25]),
  ("restricted language names", [24, 34, 144]),
]

@Test(.enabled(if: Example.isFetched, "run Tests/tools/commonmark"))
func `CommonMark's examples produce CommonMark's HTML or are listed as different`() throws {
  let examples = try JSONDecoder().decode([Example].self, from: Data(contentsOf: Example.file))
    .filter { !excludedSections.contains($0.section) }
  let different = examples.filter {
    comparable(MarkupDocument(absolute($0.markdown)).html) != comparable(absolute($0.html))
  }
  #expect(examples.count == 500)
  #expect(different.map(\.example) == differences.flatMap(\.examples).sorted())
}

/// Makes the relative addresses of the examples absolute.
private func absolute(_ text: String) -> String {
  text.replacing("/url", with: "https://example.org/url").replacing("/uri", with: "https://example.org/uri")
}

/// Removes the additional attributes of links and normalizes line breaks.
private func comparable(_ html: String) -> String {
  html.replacing(" rel=\"nofollow noopener noreferrer ugc\"", with: "").replacing("<br />\n", with: "\n")
    .replacing("&#39;", with: "'")
}
