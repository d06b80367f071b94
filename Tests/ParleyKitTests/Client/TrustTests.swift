import ParleyKit
import Testing

private let digits = String(repeating: "0aF", count: 21) + "9"

@Test func `a fingerprint is 64 hexadecimal digits, with or without colons`() throws {
  let bare = try #require(Trust(fingerprint: digits))
  let pairs = stride(from: 0, to: 64, by: 2).map { String(digits.dropFirst($0).prefix(2)) }
  #expect(Trust(fingerprint: pairs.joined(separator: ":")) == bare)
  let bytes: [UInt8] = [0x0a, 0xf0, 0xaf]
  #expect(bare == .fingerprint(Array(repeating: bytes, count: 10).flatMap { $0 } + [0x0a, 0xf9]))
}

@Test(arguments: ["", "00", String(digits.dropLast()), digits + "00", "g" + digits.dropFirst(), digits + "0"])
func `any other text is not a fingerprint`(text: String) {
  #expect(Trust(fingerprint: text) == nil)
}
