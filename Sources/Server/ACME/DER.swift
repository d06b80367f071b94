/// An element in DER (X.690): tag, length, content.
enum DER {
  static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

  static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(0x30, elements.flatMap(\.self)) }
  static func set(_ elements: [UInt8]...) -> [UInt8] { element(0x31, elements.flatMap(\.self)) }
  static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
  /// Whole octets: no unused bits.
  static func bits(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }
  /// An integer below 128.
  static func integer(_ value: UInt8) -> [UInt8] { element(0x02, [value]) }

  /// `[number]` around an element.
  static func tagged(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0xa0 | number, content) }

  static let ecPublicKey: [UInt8] = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01])
  static let p256: [UInt8] = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07])
  static let ecdsaWithSHA256: [UInt8] = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])
  static let extensionRequest: [UInt8] = element(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e])
  static let subjectAlternativeName: [UInt8] = element(0x06, [0x55, 0x1d, 0x11])

  private static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(rest & 0xff), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(bytes.count)] + bytes
  }
}
