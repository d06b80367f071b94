// JPEG (ITU-T T.81 annex B): segments that begin with FF and a marker, usually followed by a length. Compressed data
// follows a start of scan; in it FF precedes 00, a restart marker, or the next segment.
//
// A segment is buffered, at most 64 KB, and written if a decoder needs it; compressed data is passed through.

struct JPEGFilter: Sendable {
  private enum Stage: Sendable {
    case start
    /// Bytes before FF are skipped.
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
  private var buffer: [UInt8] = []
  private var hasOrientation = false
  private(set) var orientation: Orientation?
  private(set) var size: PixelSize?

  mutating func take(_ piece: [UInt8], _ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    var index = 0
    while index < piece.count {
      switch stage {
      case .start:
        guard buffer.gather(piece, from: &index, until: 2) else { return }
        output += buffer
        buffer = []
        stage = .between
      case .between:
        guard let found = piece[index...].firstIndex(of: 0xff) else { return }
        index = found + 1
        stage = .marker
      case .marker:
        begin(piece[index], &output)
        index += 1
      case .segment:
        guard buffer.gather(piece, from: &index, until: 4) else { return }
        guard let length = buffer.span.uint16(at: 2), length >= 2 else { throw PictureFilter.Malformed() }
        guard buffer.gather(piece, from: &index, until: 2 + length) else { return }
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
      // Data after the end: other pictures, videos and their metadata.
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
    // Markers without a length, meaningless here.
    case 0x00, 0x01, 0xd0...0xd8: stage = .between
    default:
      buffer = [0xff, marker]
      stage = .segment
    }
  }

  /// Handles a complete segment.
  private mutating func end(_ output: inout [UInt8]) {
    let segment = buffer
    buffer = []
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
    case 0xe1: if segment.span.has("Exif\0\0", at: 4) { writeExif(Array(segment.dropFirst(10)), &output) }
    // The color profile is part of the picture.
    case 0xe2: if segment.span.has("ICC_PROFILE\0", at: 4) { output += segment }
    case 0xee:
      if segment.span.has("Adobe", at: 4), segment.count >= 16 { output += [0xff, 0xee, 0, 14] + segment[4..<16] }
    default: break
    }
  }

  /// Keeps the pixel density of JFIF and drops its thumbnail, which may show the picture before cropping.
  private static func header(_ segment: [UInt8]) -> [UInt8] {
    [0xff, 0xe0, 0, 16] + segment[4..<16] + [0, 0]
  }

  private mutating func writeExif(_ tiff: [UInt8], _ output: inout [UInt8]) {
    guard !hasOrientation else { return }
    hasOrientation = true
    orientation = Orientation(tiff: tiff.span)
    guard let orientation else { return }
    let content = Array("Exif\0\0".utf8) + orientation.tiff
    output += [0xff, 0xe1, 0, UInt8(content.count + 2)] + content
  }
}
