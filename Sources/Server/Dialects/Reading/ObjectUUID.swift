// UUIDs of objects. One that a client chose is stored. All others are derived from the id: `7061726c-6579-80KK-80II-…` with
// the kind and the id, version 8 (RFC 9562 §5.8).

import Community
import ParleyModel
import Storage

enum ObjectUUID {
  /// "parley" in ASCII, and the version.
  private static let beginning = "7061726c-6579-80"
  private static let length = 36

  static func derived(_ kind: SuppliedKind, _ id: Int) -> String {
    let (high, low) = (UInt64(id) >> 48, UInt64(id) & 0xffff_ffff_ffff)
    return "\(beginning)\(hexadecimal(code(kind), 2))-80\(hexadecimal(high, 2))-\(hexadecimal(low, 12))"
  }

  /// The id in a derived UUID; nil for another one.
  static func id(_ kind: SuppliedKind, _ uuid: String) -> Int? {
    guard isWellFormed(uuid) else { return nil }
    let digits = uuid.lowercased().utf8
    let (high, low) = (digits.dropFirst(21).prefix(2), digits.suffix(12))
    guard let high = Int(String(Substring(high)), radix: 16), let low = Int(String(Substring(low)), radix: 16) else {
      return nil
    }
    let id = high << 48 | low
    return id <= ID<Message>.maxNumber && derived(kind, id) == uuid.lowercased() ? id : nil
  }

  /// Whether a client may choose this UUID: it has the form of one, and is none of ours.
  static func maySupply(_ uuid: String) -> Bool { isWellFormed(uuid) && !uuid.lowercased().hasPrefix(beginning) }

  /// 8-4-4-4-12 hexadecimal digits.
  static func isWellFormed(_ uuid: String) -> Bool {
    uuid.utf8.count == length
      && uuid.utf8.enumerated().allSatisfy { index, byte in
        switch index {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default: byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
        }
      }
  }

  /// A random UUID, version 4.
  static func random() -> String {
    let (first, second) = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    let text = hexadecimal(first & 0xffff_ffff_ffff_0fff | 0x4000, 16) + hexadecimal(second >> 2 | 1 << 63, 16)
    let digits = Array(text)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return parts.map { String(digits[$0]) }.joined(separator: "-")
  }

  private static func code(_ kind: SuppliedKind) -> UInt64 {
    switch kind {
    case .forum: 1
    case .message: 2
    }
  }

  private static func hexadecimal(_ number: UInt64, _ count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}

extension CommunityView {
  /// The id of an object that a client names by a UUID or by the id itself; nil if no object can have the name.
  func id<Thing>(_ kind: SuppliedKind, named name: String) throws(Refusal) -> ID<Thing>? {
    if let id = ID<Thing>(name) { return id }
    guard ObjectUUID.isWellFormed(name) else { return nil }
    if let id = ObjectUUID.id(kind, name) { return ID(id) }
    return try subject(of: kind, named: name).map { ID($0) }
  }

  /// The UUIDs of objects, by id.
  func uuids(_ kind: SuppliedKind, of ids: [Int]) throws(Refusal) -> [Int: String] {
    let supplied = try suppliedUUIDs(kind, of: ids)
    return Dictionary(ids.map { ($0, supplied[$0] ?? ObjectUUID.derived(kind, $0)) }) { one, _ in one }
  }
}
