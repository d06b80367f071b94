// JPEG (ITU-T T.81 annex B): segments that begin with FF and a marker, most of them with a length; after a start of scan
// come compressed bytes, in which FF stands before 00, before a restart marker, or before the next segment.
//
// A segment is gathered, at most 64 KB, and goes on if a decoder needs it; what is compressed goes through as it comes.

struct JPEGFilter: Sendable {
  private enum Stage: Sendable {
    case start
    /// What stands here, before FF, is nothing.
    case between
    /// After FF.
    case marker
    case segment
    case scan
    /// In a scan, after FF.
    case scanMarker
    case done
  }

  private var stage = Stage.start
  private var held: [UInt8] = []
  private var hasOrientation = false
  private(set) var orientation: Orientation?
  private(set) var size: PixelSize?

  mutating func take(_ piece: [UInt8], _ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    var index = 0
    while index < piece.count {
      switch stage {
      case .start:
        guard held.gather(piece, from: &index, until: 2) else { return }
        output += held
        held = []
        stage = .between
      case .between:
        guard let found = piece[index...].firstIndex(of: 0xff) else { return }
        index = found + 1
        stage = .marker
      case .marker:
        begin(piece[index], &output)
        index += 1
      case .segment:
        guard held.gather(piece, from: &index, until: 4) else { return }
        guard let length = held.span.uint16(at: 2), length >= 2 else { throw PictureFilter.Malformed() }
        guard held.gather(piece, from: &index, until: 2 + length) else { return }
        end(&output)
      case .scan:
        let found = piece[index...].firstIndex(of: 0xff) ?? piece.count
        output += piece[index..<found]
        index = found + 1
        if found < piece.count { stage = .scanMarker }
      case .scanMarker:
        let byte = piece[index]
        if byte == 0 || 0xd0...0xd7 ~= byte {
          output.append(0xff)
          output.append(byte)
          stage = .scan
        } else {
          begin(byte, &output)
        }
        index += 1
      // What follows the end: other pictures, films, and what they say of themselves.
      case .done: return
      }
    }
  }

  private mutating func begin(_ marker: UInt8, _ output: inout [UInt8]) {
    switch marker {
    // §B.1.1.2: any number of FF may stand before a marker.
    case 0xff: stage = .marker
    case 0xd9:
      output += [0xff, marker]
      stage = .done
    // Without a length, and without a meaning here.
    case 0x00, 0x01, 0xd0...0xd8: stage = .between
    default:
      held = [0xff, marker]
      stage = .segment
    }
  }

  /// The segment is there.
  private mutating func end(_ output: inout [UInt8]) {
    let segment = held
    held = []
    stage = segment[1] == 0xda ? .scan : .between
    switch segment[1] {
    case 0xc0...0xcf:
      let isFrame = ![0xc4, 0xc8, 0xcc].contains(segment[1])
      if isFrame, size == nil, let height = segment.span.uint16(at: 5), let width = segment.span.uint16(at: 7) {
        size = PixelSize(width: width, height: height)
      }
      output += segment
    // Tables, the number of lines, the restart interval, the start of a scan.
    case 0xda...0xdf: output += segment
    case 0xe0: if segment.span.has("JFIF\0", at: 4), segment.count >= 18 { output += Self.header(segment) }
    case 0xe1: if segment.span.has("Exif\0\0", at: 4) { takeExif(Array(segment.dropFirst(10)), &output) }
    // Colours are part of the picture.
    case 0xe2: if segment.span.has("ICC_PROFILE\0", at: 4) { output += segment }
    case 0xee:
      if segment.span.has("Adobe", at: 4), segment.count >= 16 { output += [0xff, 0xee, 0, 14] + segment[4..<16] }
    default: break
    }
  }

  /// JFIF says how dense the pixels are, and may hold a thumbnail, of what was there before somebody cropped it.
  private static func header(_ segment: [UInt8]) -> [UInt8] {
    [0xff, 0xe0, 0, 16] + segment[4..<16] + [0, 0]
  }

  private mutating func takeExif(_ tiff: [UInt8], _ output: inout [UInt8]) {
    guard !hasOrientation else { return }
    hasOrientation = true
    orientation = Orientation(tiff: tiff.span)
    guard let orientation else { return }
    let content = Array("Exif\0\0".utf8) + orientation.tiff
    output += [0xff, 0xe1, 0, UInt8(content.count + 2)] + content
  }
}
