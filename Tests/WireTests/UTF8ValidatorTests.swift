import TestSupport
import Testing

@testable import ParleyWire

struct UTF8ValidatorTests {
  /// Whether all pieces are accepted and the text is complete at the end.
  private func isValid(_ pieces: [[UInt8]]) -> Bool {
    var validator = UTF8Validator()
    for piece in pieces { guard validator.accept(piece.span) else { return false } }
    return validator.isComplete
  }

  static let texts: [[UInt8]] = [
    "", "a", "κόσμε", "日本語", "🌱🌳", "a\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}", "\u{d7ff}\u{e000}", "\0",
    String(repeating: "garden ", count: 30) + "é", "é" + String(repeating: "x", count: 200) + "日",
  ].map { Array($0.utf8) }

  static let wrong: [[UInt8]] = [
    [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xc2], [0xc2, 0x41], [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf],
    [0xe2, 0x82],
    [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xfe], [0xff], [0xe2, 0x28, 0xa1], [0xf0, 0x9f, 0x8c],
  ]

  @Test(arguments: texts) func `text is accepted, split anywhere`(bytes: [UInt8]) {
    for split in 0...bytes.count { #expect(isValid([Array(bytes[..<split]), Array(bytes[split...])])) }
    #expect(isValid(bytes.map { [$0] }))
  }

  @Test(arguments: wrong) func `invalid UTF-8 is refused at every position and split`(bytes: [UInt8]) {
    for lead in [0, 1, 7, 8, 63, 64, 65, 130] {
      let whole = [UInt8](repeating: 0x61, count: lead) + bytes
      #expect(!isValid([whole]))
      #expect(!isValid(whole.map { [$0] }))
      for split in lead...whole.count { #expect(!isValid([Array(whole[..<split]), Array(whole[split...])])) }
    }
  }

  @Test(
    arguments: [
      ([0x61, 0xc0], 1), ([0xe0, 0x9f], 1), ([0xed, 0xa0], 1), ([0xf4, 0x90], 1), ([0xf5], 0), ([0xce, 0xba, 0xff], 2),
    ] as [([UInt8], Int)]) func `the first invalid byte is refused`(bytes: [UInt8], wrong: Int)
  {
    var validator = UTF8Validator()
    for (index, byte) in bytes.enumerated() { #expect(validator.accept([byte].span) == (index != wrong)) }
  }

  @Test func `the standard library agrees on random bytes`() {
    var random = Seeded(seed: 8)
    let interesting: [UInt8] = [
      0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4,
    ]
    for _ in 0..<4000 {
      let bytes = (0..<Int.random(in: 0...6, using: &random)).compactMap { _ in
        interesting.randomElement(using: &random)
      }
      #expect(isValid([bytes]) == (String(validating: bytes, as: UTF8.self) != nil))
    }
  }
}
