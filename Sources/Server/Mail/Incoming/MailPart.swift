// A message or one of its parts (RFC 2045, 2046). Parts within a message that is itself an attachment are not read.

struct MailPart {
  let header: MailHeader
  let type: ParameterizedValue
  /// Encoded for the transfer.
  let body: ArraySlice<UInt8>
  private(set) var parts: [MailPart] = []

  init(_ bytes: [UInt8]) {
    var budget = MailLimits.parts
    var start = 0
    // The first line of a mailbox file, which some mail servers pass on.
    if bytes.starts(with: "From ".utf8) { start = bytes[...].line(at: 0).next }
    self.init(bytes[start...], depth: 0, budget: &budget)
  }

  private init(_ bytes: ArraySlice<UInt8>, depth: Int, budget: inout Int) {
    budget -= 1
    var position = bytes.startIndex
    header = MailHeader(bytes, from: &position)
    type = ParameterizedValue(header["content-type"] ?? "text/plain")
    body = bytes[position...]
    guard type.value.hasPrefix("multipart/"), depth < MailLimits.depth, let boundary = type["boundary"],
      1...MailLimits.boundary ~= boundary.utf8.count
    else { return }
    for part in body.parts(between: Array("--\(boundary)".utf8)) {
      guard budget > 0 else { return }
      parts.append(MailPart(part, depth: depth + 1, budget: &budget))
    }
  }

  /// `attachment`, `inline` or nil.
  var disposition: String? { header["content-disposition"].map { ParameterizedValue($0).value } }

  /// The content up to a number of bytes; nil for an unknown encoding.
  func content(limit: Int) -> [UInt8]? {
    switch header["content-transfer-encoding"]?.lowercased() ?? "7bit" {
    case "7bit", "8bit", "binary": Array(body.prefix(limit))
    case "quoted-printable": TransferDecoding.quotedPrintable(body, limit: limit)
    case "base64": TransferDecoding.base64(body, limit: limit)
    default: nil
    }
  }

  /// This part and all parts within.
  func visit(_ body: (MailPart) -> Void) {
    body(self)
    for part in parts { part.visit(body) }
  }
}

extension ArraySlice<UInt8> {
  /// The bytes between the lines of a boundary (RFC 2046 §5.1.1). Without the last line the rest is a part.
  fileprivate func parts(between delimiter: [UInt8]) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var (position, begin): (Int, Int?) = (startIndex, nil)
    while position < endIndex, parts.count < MailLimits.parts {
      let line = line(at: position)
      defer { position = line.next }
      guard line.content.starts(with: delimiter) else { continue }
      let rest = line.content.dropFirst(delimiter.count)
      let isLast = rest.starts(with: "--".utf8)
      guard isLast || rest.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else { continue }
      if let begin { parts.append(self[begin..<Swift.max(begin, endOfLine(before: position))]) }
      begin = line.next
      if isLast { return parts }
    }
    if let begin, begin < endIndex, parts.count < MailLimits.parts { parts.append(self[begin...]) }
    return parts
  }

  /// The line break before a boundary belongs to the boundary.
  private func endOfLine(before position: Int) -> Int {
    guard position > startIndex, self[position - 1] == UInt8(ascii: "\n") else { return position }
    let isPair = position - 1 > startIndex && self[position - 2] == UInt8(ascii: "\r")
    return position - (isPair ? 2 : 1)
  }
}

/// The decodings of RFC 2045 §6. Invalid bytes are skipped, the rest is decoded.
enum TransferDecoding {
  static func quotedPrintable(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8] {
    var decoded: [UInt8] = []
    var position = bytes.startIndex
    while position < bytes.endIndex, decoded.count < limit {
      let (content, next) = bytes.line(at: position)
      var line = content
      while let last = line.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { line.removeLast() }
      var isSoft = false
      while let byte = line.popFirst() {
        guard byte == UInt8(ascii: "=") else {
          decoded.append(byte)
          continue
        }
        if line.isEmpty {
          isSoft = true
        } else if let high = hex(line.first), let low = hex(line.dropFirst().first) {
          decoded.append(high << 4 | low)
          line = line.dropFirst(2)
        } else {
          decoded.append(byte)
        }
      }
      if !isSoft, bytes[next - 1] == UInt8(ascii: "\n") { decoded.append(UInt8(ascii: "\n")) }
      position = next
    }
    return Array(decoded.prefix(limit))
  }

  static func base64(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8] {
    var decoded: [UInt8] = []
    var (bits, count): (UInt32, Int) = (0, 0)
    for byte in bytes {
      guard let value = digit(byte) else {
        if byte == UInt8(ascii: "=") { break }
        continue
      }
      (bits, count) = (bits << 6 | UInt32(value), count + 6)
      guard count >= 8 else { continue }
      count -= 8
      decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      if decoded.count == limit { break }
    }
    return decoded
  }

  private static func hex(_ byte: UInt8?) -> UInt8? {
    guard let byte else { return nil }
    if byte &- 0x30 < 10 { return byte - 0x30 }
    return (byte | 0x20) &- 0x61 < 6 ? (byte | 0x20) - 0x61 + 10 : nil
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x41...0x5a: byte - 0x41
    case 0x61...0x7a: byte - 0x61 + 26
    case 0x30...0x39: byte - 0x30 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
