/// Reads lines of bounded length.
struct LineReader {
  private let source: any ByteSource
  private let name: String
  private var piece: [UInt8] = []
  private var position = 0
  /// The offset of the next line.
  private(set) var offset = 0

  init(_ source: any ByteSource, _ name: String) {
    self.source = source
    self.name = name
  }

  /// The next line without its end; nil after the last one.
  mutating func next() throws(ImportFault) -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      if position == piece.count {
        guard let next = try source.read() else { return line.isEmpty ? nil : line }
        (piece, position) = (next, 0)
      }
      let end = piece[position...].firstIndex(of: UInt8(ascii: "\n"))
      let part = piece[position..<(end ?? piece.count)]
      guard line.count + part.count <= ImportLimits.valueBytes else {
        throw ImportFault("\(name) has a line of more than \(ImportLimits.valueBytes >> 20) MB. Make a new export.")
      }
      line += part
      position += part.count
      offset += part.count
      guard end != nil else { continue }
      position += 1
      offset += 1
      return line
    }
  }
}
