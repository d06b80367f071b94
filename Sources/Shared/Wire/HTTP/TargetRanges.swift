/// The ranges of a request target's parts (RFC 9112 §3.2), validated before strings are created.
struct TargetRanges: Sendable {
  private var authority = 0..<0
  private var path: Range<Int>
  private var query: Range<Int>?
  /// `OPTIONS *` or `OPTIONS http://authority` (§3.2.4): the server itself.
  private var isAsterisk = false

  /// Every byte in `range` is visible ASCII or a space.
  init?(_ bytes: Span<UInt8>, in range: Range<Int>, isOptions: Bool) {
    path = range
    if bytes[range.lowerBound] == UInt8(ascii: "*") {
      guard range.count == 1, isOptions else { return nil }
      isAsterisk = true
      return
    }
    var pathStart = range.lowerBound
    if bytes[pathStart] != UInt8(ascii: "/") {
      // §3.2.2: a server must accept the absolute form.
      guard let authority = TargetRanges.authority(bytes, in: range) else { return nil }
      self.authority = authority
      pathStart = authority.upperBound
      isAsterisk = isOptions && pathStart == range.upperBound
    }
    var index = pathStart
    while index < range.upperBound, bytes[index] != UInt8(ascii: "?") {
      let byte = bytes[index]
      if byte == UInt8(ascii: "#") || byte == 32 { return nil }
      if byte == UInt8(ascii: "%") {
        guard index &+ 2 < range.upperBound, ASCII.hexValue(bytes[index &+ 1]) != nil,
          ASCII.hexValue(bytes[index &+ 2]) != nil
        else { return nil }
      }
      index &+= 1
    }
    path = pathStart..<index
    guard index < range.upperBound else { return }
    query = index &+ 1..<range.upperBound
    while index < range.upperBound {
      if bytes[index] == UInt8(ascii: "#") || bytes[index] == 32 { return nil }
      index &+= 1
    }
  }

  func value(_ bytes: Span<UInt8>) -> Target {
    Target(
      path: isAsterisk ? "*" : path.count <= 1 ? "/" : bytes.text(path), query: query.map { bytes.text($0) },
      authority: authority.isEmpty ? nil : bytes.text(authority))
  }

  /// The range of the authority of `http://authority/…`.
  private static func authority(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int>? {
    let start: Int
    if range.count > 7, bytes.matches("http://", in: range.lowerBound..<range.lowerBound &+ 7) {
      start = range.lowerBound &+ 7
    } else if range.count > 8, bytes.matches("https://", in: range.lowerBound..<range.lowerBound &+ 8) {
      start = range.lowerBound &+ 8
    } else {
      return nil
    }
    var end = start
    while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end &+= 1 }
    return Authority.isValid(bytes, in: start..<end) ? start..<end : nil
  }
}
