/// The decoded segments of a path: `/forums/caf%C3%A9/` is `["forums", "café"]` with a trailing slash.
///
/// One resource has one path. Input that a file system or proxy could interpret differently is rejected, not
/// normalized: empty segments, dot segments (also encoded), encoded slashes, backslashes and control characters.
public struct URLPath: Sendable, Hashable {
  public let segments: [String]
  public let endsInSlash: Bool

  public static let maxSegments = 64

  public enum Refusal: Error, Sendable, Hashable {
    case notAbsolute, emptySegment, dotSegment, badEscape, slashInSegment, controlCharacter, tooManySegments
  }

  public init(_ path: String) throws(Refusal) {
    let bytes = Array(path.utf8)
    guard bytes.first == UInt8(ascii: "/") else { throw .notAbsolute }
    var segments: [String] = []
    var start = 1
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
      guard segments.count < URLPath.maxSegments else { throw .tooManySegments }
      segments.append(try URLPath.segment(bytes.span, in: start..<end))
      start = end + 1
    }
    self.segments = segments
    endsInSlash = bytes.last == UInt8(ascii: "/")
  }

  private static func segment(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Refusal) -> String {
    guard !range.isEmpty else { throw .emptySegment }
    if isPlain(bytes, in: range) { return bytes.text(range) }
    guard let segment = Percent.decode(bytes, in: range, plusIsSpace: false) else { throw .badEscape }
    guard segment != ".", segment != ".." else { throw .dotSegment }
    for byte in segment.utf8 {
      guard byte != UInt8(ascii: "/"), byte != UInt8(ascii: "\\") else { throw .slashInSegment }
      guard byte >= 32, byte != 127 else { throw .controlCharacter }
    }
    return segment
  }

  /// Whether a segment is ordinary, as most are. One that starts with a dot is checked in detail.
  private static func isPlain(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    guard bytes[range.lowerBound] != UInt8(ascii: ".") else { return false }
    for index in range {
      let byte = bytes[index]
      guard byte > 32, byte < 127, byte != UInt8(ascii: "%"), byte != UInt8(ascii: "\\") else { return false }
    }
    return true
  }
}
