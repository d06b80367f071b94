import ParleyJSON
import Testing

struct TextSearchTests {
  @Test func aTextIsFoundBeforeACombiningMark() {
    let text = "say \"\u{301} onclick"
    #expect(text.contains("\""))
    #expect(text.replacing("\"", with: "&quot;") == "say &quot;\u{301} onclick")
    #expect("a\r\nb".replacing("\n", with: " ") == "a\r b")
  }

  @Test func theFirstOccurrenceIsFound() throws {
    let text = "aab aab"
    let found = try #require(text.firstRange(of: "ab"))
    #expect(text[..<found.lowerBound] == "a")
    #expect(text[found.upperBound...] == " aab")
    #expect(text.firstRange(of: "b a")?.lowerBound == text.index(text.startIndex, offsetBy: 2))
    #expect(text.firstRange(of: "abc") == nil)
    #expect(text.firstRange(of: "aab aab aab") == nil)
    #expect(text.firstRange(of: "") == text.startIndex..<text.startIndex)
    #expect(text.dropFirst(2).firstRange(of: "aab")?.lowerBound == text.index(text.startIndex, offsetBy: 4))
  }

  @Test(arguments: [
    ("a, b,, c", ",", ["a", " b", "", " c"]),
    ("", ",", [""]),
    ("::", "::", ["", ""]),
    ("aaa", "aa", ["", "a"]),
  ])
  func partsAreBetweenSeparators(text: String, separator: String, parts: [String]) {
    #expect(text.split(by: separator).map(String.init) == parts)
    #expect(text.replacing(separator, with: "|") == parts.joined(separator: "|"))
  }

  @Test func aPrefixIsRemovedOnce() {
    #expect("parley parley 1".trimmingPrefix("parley ") == "parley 1")
    #expect("1.0".trimmingPrefix("parley ") == "1.0")
    #expect("par".dropFirst().trimmingPrefix("a") == "r")
    #expect("".trimmingPrefix("a").isEmpty)
  }
}
