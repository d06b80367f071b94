import ParleyCrypto

/// The 10,000 most common passwords, which guessing begins with.
enum CommonPasswords {
  /// A digest and a space.
  private static let recordBytes = 9
  private static let table = Array(digests.utf8)

  /// Whether the password is common, in any case of its letters.
  static func contains(_ password: String) -> Bool {
    guard let digest = try? Digest.sha256(of: Array(password.lowercased().utf8)) else { return false }
    let wanted = Array(Hex.text(Array(digest.prefix(4))).utf8)
    var range = 0..<table.count / recordBytes
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      let found = table[middle * recordBytes..<middle * recordBytes + wanted.count]
      if found.elementsEqual(wanted) { return true }
      range = found.lexicographicallyPrecedes(wanted) ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return false
  }
}
