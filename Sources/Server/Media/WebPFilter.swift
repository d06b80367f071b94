// WebP (RFC 9649): RIFF, the total length, then chunks of a name, a length, data of that length, and a padding byte if
// it is odd. The total length is written first, so later chunks cannot be removed: their data is overwritten with
// zeros.

struct WebPFilter: Sendable {
  private enum Stage: Sendable {
    case header, chunk
    case buffering(Int)
    /// Passes this number of bytes; the first of them have the picture size.
    case passing(Int)
    case blanking(Int)
    case done
  }

  private var stage = Stage.header
  private var buffer: [UInt8] = []
  /// Bytes until the end according to the header.
  private var remaining = 0
  private(set) var orientation: Orientation?
  private(set) var size: PixelSize?
  /// The name and first bytes of the inspected frame.
  private var frame: [UInt8] = []
  private var isInspecting = false

  private static let kept = Set(["VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP"].map { Array($0.utf8) })
  /// §2.7: the XMP flag of the extended header. The Exif flag stays, since Exif has the orientation.
  private static let hasXMP: UInt8 = 0x04

  mutating func take(_ piece: [UInt8], _ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    var index = 0
    while index < piece.count {
      switch stage {
      case .header:
        guard buffer.gather(piece, from: &index, until: 12) else { return }
        guard let length = buffer.span.littleUInt(4, at: 4), length >= 4 else { throw PictureFilter.Malformed() }
        remaining = length - 4
        output += buffer
        buffer = []
        stage = .chunk
      case .chunk:
        guard remaining > 0 else {
          stage = .done
          return
        }
        guard buffer.gather(piece, from: &index, until: 8) else { return }
        try begin(&output)
      case .buffering(let count):
        guard buffer.gather(piece, from: &index, until: count) else { return }
        end(&output)
      case .passing(let count):
        let end = min(index + count, piece.count)
        inspect(piece[index..<end])
        output += piece[index..<end]
        stage = end - index == count ? .chunk : .passing(count - (end - index))
        index = end
      case .blanking(let count):
        let end = min(index + count, piece.count)
        output += [UInt8](repeating: 0, count: end - index)
        stage = end - index == count ? .chunk : .blanking(count - (end - index))
        index = end
      case .done: return
      }
    }
  }

  private mutating func begin(_ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    guard let length = buffer.span.littleUInt(4, at: 4) else { throw PictureFilter.Malformed() }
    let padded = length + length % 2
    guard 8 + padded <= remaining else { throw PictureFilter.Malformed() }
    remaining -= 8 + padded
    let name = Array(buffer[0..<4])
    if buffer.span.has("VP8X", at: 0) {
      guard length == 10 else { throw PictureFilter.Malformed() }
      stage = .buffering(8 + padded)
      return
    }
    if buffer.span.has("EXIF", at: 0), padded <= PictureFilter.maxBuffered, orientation == nil {
      stage = .buffering(8 + padded)
      return
    }
    let isKept = Self.kept.contains(name)
    if isKept {
      isInspecting = size == nil
      frame = name
    }
    if padded == 0 { stage = .chunk } else { stage = isKept ? .passing(padded) : .blanking(padded) }
    output += buffer
    buffer = []
  }

  private mutating func end(_ output: inout [UInt8]) {
    var chunk = buffer
    buffer = []
    stage = .chunk
    if chunk.span.has("VP8X", at: 0) {
      chunk[8] &= ~Self.hasXMP
      if let width = chunk.span.littleUInt(3, at: 12), let height = chunk.span.littleUInt(3, at: 15) {
        size = PixelSize(width: width + 1, height: height + 1)
      }
      output += chunk
      return
    }
    // Some programs write JPEG's prefix.
    let tiff = Array(chunk.dropFirst(chunk.span.has("Exif\0\0", at: 8) ? 14 : 8))
    orientation = Orientation(tiff: tiff.span)
    let kept = Orientation.tiff(orientation?.value ?? 1)
    let space = chunk.count - 8
    output += chunk[..<8]
    output += space < kept.count ? [] : kept
    output += [UInt8](repeating: 0, count: space < kept.count ? space : space - kept.count)
  }

  /// Reads the size from a frame's first bytes: RFC 6386 §9.1 and RFC 9649 §3.4.
  private mutating func inspect(_ bytes: ArraySlice<UInt8>) {
    guard isInspecting else { return }
    frame += bytes.prefix(14 - frame.count)
    if frame.span.has("VP8L", at: 0) {
      guard let bits = frame.span.littleUInt(4, at: 5) else { return }
      if frame[4] == 0x2f { size = PixelSize(width: bits & 0x3fff + 1, height: bits >> 14 & 0x3fff + 1) }
    } else if frame.span.has("VP8 ", at: 0) {
      guard let width = frame.span.littleUInt(2, at: 10), let height = frame.span.littleUInt(2, at: 12) else { return }
      if frame.span.has([0x9d, 0x01, 0x2a], at: 7) { size = PixelSize(width: width & 0x3fff, height: height & 0x3fff) }
    }
    isInspecting = false
  }
}
