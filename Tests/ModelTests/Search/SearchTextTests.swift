import TestSupport
import Testing

@testable import ParleyModel

/// Words of the prepared text, with private letters mapped back to emoji.
private func words(_ text: String) -> [String] {
  SearchText.prepare(text).unicodeScalars.split(separator: " ").map { word in
    var shown = String.UnicodeScalarView()
    for scalar in word {
      let value = scalar.value
      let sign = value < 0xf_0000 ? value : value & 0xffff < 0xf000 ? value & 0xffff : value - 0xe_0000
      shown.append(Unicode.Scalar(sign) ?? scalar)
    }
    return String(shown)
  }
}

@Suite struct SearchTextTests {
  @Test(arguments: [
    ("", []),
    ("Roses are red", ["Roses", "are", "red"]),
    ("Crème brûlée", ["Crème", "brûlée"]),
    ("Привет, мир", ["Привет,", "мир"]),
    ("日", ["日"]),
    ("日本", ["日本", "本"]),
    ("日本語", ["日本", "本語", "語"]),
    ("日本、語学", ["日本", "本", "、", "語学", "学"]),
    ("日本 語", ["日本", "本", "語"]),
    ("東京2020年", ["東京", "京", "2020", "年"]),
    ("Swiftを学ぶ", ["Swift", "を学", "学ぶ", "ぶ"]),
    ("スーパー", ["スー", "ーパ", "パー", "ー"]),
    ("ｽｰﾊﾟｰ", ["ｽｰ", "ｰﾊ", "ﾊﾟ", "ﾟｰ", "ｰ"]),
    ("한국어 공부", ["한국", "국어", "어", "공부", "부"]),
    ("ㄅㄆㄇ", ["ㄅㄆ", "ㄆㄇ", "ㄇ"]),
    ("𠀀𠮷𱍐", ["𠀀𠮷", "𠮷𱍐", "𱍐"]),
    ("ไทย", ["ไท", "ทย", "ย"]),
    ("हिन्दी", ["हिन्दी"]),
    ("🍕", ["🍕"]),
    ("pizza🍕🍕time", ["pizza", "🍕", "🍕", "time"]),
    ("日🍕本", ["日", "🍕", "本"]),
    ("👍🏽", ["👍"]),
    ("❤️", ["❤"]), ("❤", ["❤"]), ("✂️", ["✂"]), ("©", ["©"]), ("₽100", ["₽", "100"]),
    ("1️⃣", ["1"]),
    ("👩🏽‍💻", ["👩", "💻"]),
    ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
    ("🇩🇪 🇫🇷x", ["🇩🇪", "🇫🇷", "x"]),
    ("🇩🇪🇫", ["🇩🇪", "🇫"]),
    ("Ｓｗｉｆｔ６", ["Swift6"]),
    ("cre\u{300}me", ["creme"]),
    ("كَتَبَ", ["كتب"]), ("שָׁלוֹם", ["שלום"]),
    ("Donau\u{ad}dampf", ["Donaudampf"]),
    ("a\u{200d}b\u{feff}", ["ab"]),
  ])
  func `a text is split into index words`(text: String, expected: [String]) {
    #expect(words(text) == expected)
  }

  @Test func `a text of plain characters stays unchanged, byte for byte`() {
    for text in ["", "\0", "a \"b\" (c) AND d*", "line\r\nline\tend ", "naïve façade — “quoted”", "Ελλάδα, Россия"] {
      #expect(Array(SearchText.prepare(text).utf8) == Array(text.utf8))
    }
  }

  /// A random character from every plane and every class.
  private static func scalar(_ random: inout Seeded) -> Unicode.Scalar {
    let ranges: [ClosedRange<UInt32>] = [
      0...0x7f, 0x20...0x7e, 0x80...0x5ff, 0x300...0x36f, 0x600...0x10ff, 0x2000...0x2bff, 0x3000...0x30ff,
      0x4e00...0x4e20, 0xac00...0xac10, 0xd7b0...0xd7ff, 0xe000...0xffff, 0x1f000...0x1fbff, 0x1f1e6...0x1f1ff,
      0x20000...0x3ffff, 0xe0000...0x10ffff,
    ]
    let range = ranges[Int.random(in: 0..<ranges.count, using: &random)]
    return Unicode.Scalar(UInt32.random(in: range, using: &random)) ?? " "
  }

  private static func text(_ random: inout Seeded) -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...40, using: &random) { scalars.append(scalar(&random)) }
    return String(scalars)
  }

  @Test func `preparing is deterministic, splits at spaces, and at most triples the length`() {
    var random = Seeded(seed: 1)
    for _ in 0..<20_000 {
      let (one, other) = (Self.text(&random), Self.text(&random))
      let prepared = SearchText.prepare(one)
      #expect(prepared == SearchText.prepare(one))
      #expect(prepared.unicodeScalars.count <= 3 * one.unicodeScalars.count)
      #expect(words(one + " " + other) == words(one) + words(other))
    }
  }

  @Test func `every part of a run is found`() {
    let run = Array("吾輩は猫である名前はまだ無い")
    let all = words(String(run))
    for start in run.indices {
      for end in start..<run.count {
        let phrase = SearchText.phrase(String(run[start...end]))
        let parts = phrase.text.split(separator: " ").map(String.init)
        let isFound = all.indices.contains { index in
          all[index...].starts(with: parts) { $0 == $1 || phrase.isBeginning && $0.hasPrefix($1) }
        }
        #expect(isFound, "\(run[start...end])")
      }
    }
  }

  @Test func `no two symbols share a private letter`() {
    var known: [String: UInt32] = [:]
    for value in UInt32(0)...0x10_ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      switch SearchCharacter(scalar) {
      case .symbol(let letter), .flagHalf(let letter):
        #expect(letter.properties.generalCategory == .privateUse)
        #expect(known.updateValue(value, forKey: String(letter)) == nil)
      case .plain, .unspaced, .wide, .dropped: break
      }
    }
    #expect(known.count > 5_000)
  }
}
