// PNG (W3C, third edition): a signature, then chunks of a length, a name, data of that length and a checksum.

struct PNGFilter: Sendable {
  private enum Stage: Sendable {
    case signature, chunk
    /// Buffers a chunk of this length.
    case buffering(Int)
    case passing(Int)
    case dropping(Int)
    case done
  }

  private var stage = Stage.signature
  private var buffer: [UInt8] = []
  private(set) var orientation: Orientation?
  private(set) var size: PixelSize?
  private var hasHeader = false
  private var hasOrientation = false

  /// Chunks of the image, its animation and its colors. Text, times and unknown chunks are dropped.
  private static let kept: Set<[UInt8]> = Set(
    [
      "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD",
      "pHYs", "acTL", "fcTL", "fdAT",
    ].map { Array($0.utf8) })

  mutating func take(_ piece: [UInt8], _ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    var index = 0
    while index < piece.count {
      switch stage {
      case .signature:
        guard buffer.gather(piece, from: &index, until: 8) else { return }
        output += buffer
        buffer = []
        stage = .chunk
      case .chunk:
        guard buffer.gather(piece, from: &index, until: 8) else { return }
        try begin(&output)
      case .buffering(let count):
        guard buffer.gather(piece, from: &index, until: count) else { return }
        end(&output)
      case .passing(let remaining):
        let end = min(index + remaining, piece.count)
        output += piece[index..<end]
        stage = end - index == remaining ? .chunk : .passing(remaining - (end - index))
        index = end
      case .dropping(let remaining):
        let end = min(index + remaining, piece.count)
        stage = end - index == remaining ? .chunk : .dropping(remaining - (end - index))
        index = end
      case .done: return
      }
    }
  }

  private mutating func begin(_ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    let name = Array(buffer[4..<8])
    // §5.3: the maximum length of a chunk; exactly the first chunk is the header.
    guard let length = buffer.span.uint32(at: 0), length < 1 << 31, hasHeader != (name == Array("IHDR".utf8)) else {
      throw PictureFilter.Malformed()
    }
    if !hasHeader {
      guard length == 13 else { throw PictureFilter.Malformed() }
      hasHeader = true
      stage = .buffering(8 + length + 4)
    } else if name == Array("IEND".utf8) {
      guard length == 0 else { throw PictureFilter.Malformed() }
      stage = .buffering(8 + 4)
    } else if name == Array("eXIf".utf8), length <= PictureFilter.maxBuffered, !hasOrientation {
      hasOrientation = true
      stage = .buffering(8 + length + 4)
    } else {
      if Self.kept.contains(name) {
        output += buffer
        stage = .passing(length + 4)
      } else {
        stage = .dropping(length + 4)
      }
      buffer = []
    }
  }

  private mutating func end(_ output: inout [UInt8]) {
    let chunk = buffer
    buffer = []
    stage = .chunk
    if chunk.span.has("eXIf", at: 4) {
      let tiff = Array(chunk[8..<(chunk.count - 4)])
      orientation = Orientation(tiff: tiff.span)
      if let orientation { output += Self.chunk("eXIf", orientation.tiff) }
      return
    }
    output += chunk
    if chunk.span.has("IEND", at: 4) {
      stage = .done
    } else if let width = chunk.span.uint32(at: 8), let height = chunk.span.uint32(at: 12) {
      size = PixelSize(width: width, height: height)
    }
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    var chunk: [UInt8] = []
    chunk.append(uint32: content.count)
    let checked = Array(name.utf8) + content
    chunk += checked
    chunk.append(uint32: Int(checksum(checked)))
    return chunk
  }

  /// §D: CRC-32 bit by bit, sufficient for a few bytes.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
  }
}
