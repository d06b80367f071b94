/// Content that is read once, in pieces.
public protocol ByteSource: AnyObject {
  /// The next bytes; nil at the end.
  func read() throws(ImportFault) -> [UInt8]?
}

extension ByteSource {
  /// All bytes of a small content.
  func readAll(limit: Int, of name: String) throws(ImportFault) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try read() {
      guard bytes.count + piece.count <= limit else {
        throw ImportFault("\(name) has more than \(limit) bytes, which no export writes. Make a new export.")
      }
      bytes += piece
    }
    return bytes
  }
}

/// Bytes in memory.
public final class MemorySource: ByteSource {
  private let bytes: [UInt8]
  private let pieceSize: Int
  private var position = 0

  public init(_ bytes: [UInt8], pieceSize: Int = 65_536) {
    self.bytes = bytes
    self.pieceSize = pieceSize
  }

  public func read() throws(ImportFault) -> [UInt8]? {
    guard position < bytes.count else { return nil }
    let end = min(position + pieceSize, bytes.count)
    defer { position = end }
    return Array(bytes[position..<end])
  }
}
