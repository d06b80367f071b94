import Foundation
import ParleyJSON
import TestSupport
import Testing

/// Random mutations with a fixed seed. `PARLEY_FUZZ_ROUNDS` sets the number of rounds.
@Suite struct MutationTests {
  private let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 10_000

  @Test func `every accepted text round-trips`() throws {
    var mutations = Mutations(seed: 1)
    var accepted = 0
    for _ in 0..<rounds {
      let text = mutations.next()
      guard let value = try? JSONValue(parsing: text) else { continue }
      accepted += 1
      let tree = try Tree(json: value)
      #expect(try Tree(json: JSONValue(parsing: value.raw.bytes)) == tree, "\(printable(text))")
      #expect(try Tree(json: JSONValue(parsing: value.raw.compact.bytes)) == tree, "\(printable(text))")
      var json = JSONWriter()
      json.value(tree)
      #expect(try Tree(json: JSONValue(parsing: json.bytes)) == tree, "\(printable(text))")
      #expect(json.bytes.count <= text.count * 6)
    }
    #expect(accepted > rounds / 20, "the mutations are too wild to test reading")
    #expect(accepted < rounds - rounds / 20, "the mutations are too tame to test refusing")
  }

  @Test func `Foundation reads every accepted text with the same result`() throws {
    var mutations = Mutations(seed: 2)
    for _ in 0..<rounds {
      let text = mutations.next()
      // Foundation drops a byte-order mark at the start of a string.
      guard !String(decoding: text, as: UTF8.self).unicodeScalars.contains("\u{feff}") else { continue }
      guard let value = try? JSONValue(parsing: text) else { continue }
      let tree = try Tree(json: value)
      guard tree.numbersFit else { continue }
      let other = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
      #expect(other.map { tree.agrees(with: $0) } == true, "\(printable(text))")
    }
  }

  @Test func `an error offset is inside the text`() {
    var mutations = Mutations(seed: 3)
    for _ in 0..<rounds {
      let text = mutations.next()
      if let fault = malformation(text) { #expect(fault.offset <= text.count, "\(printable(text))") }
    }
  }
}

private func printable(_ text: [UInt8]) -> String { String(decoding: text, as: UTF8.self).debugDescription }

/// Generates texts of the tables with up to four mutations.
private struct Mutations {
  private var random: Seeded
  private let texts = Texts.all.filter { $0.count < 500 }
  private let pieces = [
    "[", "]", "{", "}", ",", ":", "\"", "\\", "\\u", "\\ud83c", "\\udf55", "0", "1", "-", ".", "e", "E+", "true",
    "null", " ", "\n",
    "\0", "é", "🍕", "\"a\":", ",\"b\":1", "[]", "{}", "\\n", "\u{feff}", "12345678901234567890",
  ].map { [UInt8]($0.utf8) }

  init(seed: UInt64) { random = Seeded(seed: seed) }

  mutating func next() -> [UInt8] {
    var text = pick(texts)
    for _ in 0..<Int.random(in: 0...4, using: &random) { change(&text) }
    return text
  }

  private mutating func change(_ text: inout [UInt8]) {
    let index = Int.random(in: 0...text.count, using: &random)
    let end = min(text.count, index + Int.random(in: 0...8, using: &random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0: text.insert(contentsOf: pick(pieces), at: index)
    case 1: text.replaceSubrange(index..<end, with: pick(pieces))
    case 2: text.removeSubrange(index..<end)
    case 3: text.insert(contentsOf: text[index..<end], at: index)
    case 4: text.insert(contentsOf: pick(texts), at: index)
    case 5: if index < text.count { text[index] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
    default: text.insert(UInt8.random(in: 0...255, using: &random), at: index)
    }
  }

  private mutating func pick(_ choices: [[UInt8]]) -> [UInt8] {
    choices[Int.random(in: choices.indices, using: &random)]
  }
}

extension Tree {
  /// Foundation rejects numbers outside the range of `Double` and loses digits of long ones.
  fileprivate var numbersFit: Bool {
    switch self {
    case .object(let members): members.allSatisfy { $0.value.numbersFit }
    case .array(let elements): elements.allSatisfy { $0.numbersFit }
    case .number(let bytes): (try? JSONValue(parsing: bytes).double()) != nil
    case .string, .bool, .null: true
    }
  }

  fileprivate func agrees(with other: Any) -> Bool {
    switch self {
    case .object(let members):
      guard let other = other as? [String: Any] else { return false }
      // Canonically equivalent keys are one key in a Swift dictionary.
      guard other.count == members.count else {
        return Set(members.map { String(decoding: $0.name, as: UTF8.self) }).count == other.count
      }
      return members.allSatisfy { member in
        other[String(decoding: member.name, as: UTF8.self)].map { member.value.agrees(with: $0) } == true
      }
    case .array(let elements):
      guard let other = other as? [Any], other.count == elements.count else { return false }
      return zip(elements, other).allSatisfy { $0.agrees(with: $1) }
    case .string(let bytes): return (other as? String).map { Array($0.utf8) } == bytes
    case .number(let bytes):
      guard let other = other as? NSNumber, let number = try? JSONValue(parsing: bytes).double() else { return false }
      return abs(other.doubleValue - number) <= abs(number) * 1e-15
    case .bool(let bool): return (other as? Bool) == bool
    case .null: return other is NSNull
    }
  }
}
