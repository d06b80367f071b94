/// A QR code (ISO/IEC 18004) of a link: bytes, error correction L, versions 1 to 5, which have one block.
struct QRCode {
  /// Dark modules, row by row.
  let modules: [[Bool]]

  /// By version: data words, correction words, the position of the alignment pattern.
  private static let versions: [(data: Int, correction: Int, alignment: Int?)] = [
    (19, 7, nil), (34, 10, 18), (55, 15, 22), (80, 20, 26), (108, 26, 30),
  ]
  /// Light modules around the code, which readers need.
  private static let quietZone = 4

  /// Nil for a text of more than 106 bytes.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    // Mode and length take twelve bits.
    guard let index = Self.versions.firstIndex(where: { bytes.count + 2 <= $0.data }) else { return nil }
    let version = Self.versions[index]
    let data = Self.dataWords(bytes, count: version.data)
    var drawing = Drawing(size: 21 + 4 * index)
    drawing.drawPatterns(alignment: version.alignment)
    drawing.drawFormat()
    drawing.drawWords(data + Self.remainder(data, degree: version.correction))
    modules = drawing.modules.map { row in row.map { $0 ?? false } }
  }

  /// Two rows of modules in each line of text, black on white in any theme.
  var lines: [String] {
    let size = modules.count
    let range = -Self.quietZone..<(size + Self.quietZone)
    let isDark = { (row: Int, column: Int) in
      modules.indices.contains(row) && modules.indices.contains(column) && modules[row][column]
    }
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      let text = range.map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): " "
        case (true, false): "▄"
        case (false, true): "▀"
        case (false, false): "█"
        }
      }
      return "\u{1b}[97;40m\(text.joined())\u{1b}[0m"
    }
  }

  private static func dataWords(_ bytes: [UInt8], count: Int) -> [UInt8] {
    // Four bits of the mode, eight of the length, then the bytes: all are shifted by half a byte.
    let head: [UInt8] = [0x40 | UInt8(bytes.count >> 4), UInt8(bytes.count & 15) << 4 | (bytes.first ?? 0) >> 4]
    let body = bytes.indices.map { index in
      bytes[index] << 4 | (index + 1 < bytes.count ? bytes[index + 1] >> 4 : 0)
    }
    var words = head + body
    var padding: UInt8 = 0xec
    while words.count < count {
      words.append(padding)
      padding ^= 0xec ^ 0x11
    }
    return Array(words.prefix(count))
  }

  /// Reed–Solomon: the remainder of the data by the generator of that degree.
  private static func remainder(_ data: [UInt8], degree: Int) -> [UInt8] {
    var generator: [UInt8] = [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      var next = generator + [0]
      for index in generator.indices { next[index + 1] ^= product(generator[index], root) }
      generator = next
      root = product(root, 2)
    }
    var rest = data + [UInt8](repeating: 0, count: degree)
    for start in data.indices where rest[start] != 0 {
      let factor = rest[start]
      for index in generator.indices { rest[start + index] ^= product(generator[index], factor) }
    }
    return Array(rest[data.count...])
  }

  /// The product in the field of 256 elements with the polynomial 0x11d.
  private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var (result, factor, rest) = (0, Int(left), right)
    while rest > 0 {
      if rest & 1 == 1 { result ^= factor }
      factor <<= 1
      if factor > 255 { factor ^= 0x11d }
      rest >>= 1
    }
    return UInt8(result)
  }

  private struct Drawing {
    /// Nil: not drawn yet.
    var modules: [[Bool?]]
    private var size: Int { modules.count }

    init(size: Int) {
      modules = Array(repeating: Array(repeating: nil, count: size), count: size)
    }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
      if modules.indices.contains(row), modules.indices.contains(column) { modules[row][column] = isDark }
    }

    /// Three finder patterns, the alignment pattern and the timing patterns.
    mutating func drawPatterns(alignment: Int?) {
      for (row, column) in [(0, 0), (0, size - 7), (size - 7, 0)] {
        for y in -1..<8 {
          for x in -1..<8 {
            let ring = max(abs(x - 3), abs(y - 3))
            set(row + y, column + x, ring != 2 && ring != 4)
          }
        }
      }
      if let alignment {
        for y in -2...2 {
          for x in -2...2 { set(alignment + y, alignment + x, max(abs(x), abs(y)) != 1) }
        }
      }
      for position in 8..<(size - 8) {
        set(6, position, position.isMultiple(of: 2))
        set(position, 6, position.isMultiple(of: 2))
      }
    }

    /// Level L and mask 0 with their BCH code, twice, and the dark module.
    mutating func drawFormat() {
      let bits = 0b111_0111_1100_0100
      let isDark = { (bit: Int) in bits >> bit & 1 == 1 }
      for bit in 0...5 { set(bit, 8, isDark(bit)) }
      set(7, 8, isDark(6))
      set(8, 8, isDark(7))
      set(8, 7, isDark(8))
      for bit in 9..<15 { set(8, 14 - bit, isDark(bit)) }
      for bit in 0..<8 { set(8, size - 1 - bit, isDark(bit)) }
      for bit in 8..<15 { set(size - 15 + bit, 8, isDark(bit)) }
      set(size - 8, 8, true)
    }

    /// The words in columns of two modules, from the right, upwards and downwards. Mask 0 inverts every other module.
    mutating func drawWords(_ words: [UInt8]) {
      var bit = 0
      var right = size - 1
      while right > 0 {
        // The column of the timing pattern.
        if right == 6 { right = 5 }
        for step in 0..<size {
          let row = (right + 1) & 2 == 0 ? size - 1 - step : step
          for column in [right, right - 1] where modules[row][column] == nil {
            let isSet = bit < words.count * 8 && words[bit >> 3] >> (7 - UInt8(bit & 7)) & 1 == 1
            bit += 1
            modules[row][column] = isSet != (row + column).isMultiple(of: 2)
          }
        }
        right -= 2
      }
    }
  }
}
