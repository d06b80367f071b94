/// Check of texts that are one emoji: of reactions and statuses.
public enum Emoji {
  /// A family with four skin tones takes 41 bytes, the flag of Scotland 28.
  private static let maxBytes = 64

  /// Whether the text is one emoji of Unicode; flags, families and keycaps are one.
  public static func isSingle(_ text: Substring) -> Bool {
    guard text.utf8.count <= maxBytes, text.count == 1, let first = text.unicodeScalars.first,
      first.properties.isEmoji
    else { return false }
    let isKeycap = text.unicodeScalars.last?.value == 0x20e3
    return (!first.isASCII || isKeycap) && text.unicodeScalars.dropFirst().allSatisfy(isPart)
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Zero-width joiner, variation selector 16, combining keycap, and tag characters of flags.
    case 0x200d, 0xfe0f, 0x20e3, 0xe0020...0xe007f: true
    default: !scalar.isASCII && scalar.properties.isEmoji
    }
  }
}
