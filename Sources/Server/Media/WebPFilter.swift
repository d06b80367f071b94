// WebP (RFC 9649): RIFF, the length of all, then chunks of a name, a length, that many bytes, and a byte more where they are
// odd. The length of all comes first, so nothing can be taken out that comes later: it is overwritten with zeros.

struct WebPFilter: Sendable {
  private enum Stage: Sendable {
    case header, chunk
    case holding(Int)
    /// So many bytes, of which the first say how large the picture is.
    case passing(Int)
    case blanking(Int)
    case done
  }

  private var stage = Stage.header
  private var held: [UInt8] = []
  /// Bytes until the end that the header has named.
  private var left = 0
  private(set) var orientation: Orientation?
  private(set) var size: PixelSize?
  /// The name of the frame whose first bytes are looked at, and these.
  private var frame: [UInt8] = []
  private var isWatching = false

  private static let kept = Set(["VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP"].map { Array($0.utf8) })
  /// §2.7: what the extended header says of metadata. Exif stays, since it says which way is up.
  private static let hasXMP: UInt8 = 0x04

  mutating func take(_ piece: [UInt8], _ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    var index = 0
    while index < piece.count {
      switch stage {
      case .header:
        guard held.gather(piece, from: &index, until: 12) else { return }
        guard let length = held.span.littleUInt(4, at: 4), length >= 4 else { throw PictureFilter.Malformed() }
        left = length - 4
        output += held
        held = []
        stage = .chunk
      case .chunk:
        guard left > 0 else {
          stage = .done
          return
        }
        guard held.gather(piece, from: &index, until: 8) else { return }
        try begin(&output)
      case .holding(let count):
        guard held.gather(piece, from: &index, until: count) else { return }
        end(&output)
      case .passing(let count):
        let end = min(index + count, piece.count)
        watch(piece[index..<end])
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
    guard let length = held.span.littleUInt(4, at: 4) else { throw PictureFilter.Malformed() }
    let padded = length + length % 2
    guard 8 + padded <= left else { throw PictureFilter.Malformed() }
    left -= 8 + padded
    let name = Array(held[0..<4])
    if held.span.has("VP8X", at: 0) {
      guard length == 10 else { throw PictureFilter.Malformed() }
      stage = .holding(8 + padded)
      return
    }
    if held.span.has("EXIF", at: 0), padded <= PictureFilter.mostHeld, orientation == nil {
      stage = .holding(8 + padded)
      return
    }
    let isKept = Self.kept.contains(name)
    if isKept {
      isWatching = size == nil
      frame = name
    }
    if padded == 0 { stage = .chunk } else { stage = isKept ? .passing(padded) : .blanking(padded) }
    output += held
    held = []
  }

  private mutating func end(_ output: inout [UInt8]) {
    var chunk = held
    held = []
    stage = .chunk
    if chunk.span.has("VP8X", at: 0) {
      chunk[8] &= ~Self.hasXMP
      if let width = chunk.span.littleUInt(3, at: 12), let height = chunk.span.littleUInt(3, at: 15) {
        size = PixelSize(width: width + 1, height: height + 1)
      }
      output += chunk
      return
    }
    // Some programs write the name that JPEG has before it.
    let tiff = Array(chunk.dropFirst(chunk.span.has("Exif\0\0", at: 8) ? 14 : 8))
    orientation = Orientation(tiff: tiff.span)
    let kept = Orientation.tiff(orientation?.value ?? 1)
    let space = chunk.count - 8
    output += chunk[..<8]
    output += space < kept.count ? [] : kept
    output += [UInt8](repeating: 0, count: space < kept.count ? space : space - kept.count)
  }

  /// RFC 6386 §9.1 and RFC 9649 §3.4: a frame's first bytes.
  private mutating func watch(_ bytes: ArraySlice<UInt8>) {
    guard isWatching else { return }
    frame += bytes.prefix(14 - frame.count)
    if frame.span.has("VP8L", at: 0) {
      guard let bits = frame.span.littleUInt(4, at: 5) else { return }
      if frame[4] == 0x2f { size = PixelSize(width: bits & 0x3fff + 1, height: bits >> 14 & 0x3fff + 1) }
    } else if frame.span.has("VP8 ", at: 0) {
      guard let width = frame.span.littleUInt(2, at: 10), let height = frame.span.littleUInt(2, at: 12) else { return }
      if frame.span.has([0x9d, 0x01, 0x2a], at: 7) { size = PixelSize(width: width & 0x3fff, height: height & 0x3fff) }
    }
    isWatching = false
  }
}
