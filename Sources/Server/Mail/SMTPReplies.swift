/// Reads the replies of a mail server, which may have several lines and arrive in pieces.
struct SMTPReplies {
  struct Reply: Hashable {
    let code: Int
    let lines: [String]

    var text: String { lines.joined(separator: " ") }

    /// Whether a refusal of a recipient blames the recipient. A reply without a status code does.
    var isAboutRecipient: Bool { EnhancedStatus(lines.first ?? "")?.isAboutRecipient ?? true }
  }

  enum Fault: Error {
    case malformed
  }

  private var buffer: [UInt8] = []
  private var code: Int?
  private var lines: [String] = []

  /// RFC 5321 §4.5.3.1.5 has 512; some servers send more.
  static let maxLineBytes = 2_048
  static let maxLines = 100

  /// Whether the server has sent more than the replies that were read.
  var hasMore: Bool { !buffer.isEmpty || code != nil }

  mutating func append(_ bytes: [UInt8]) { buffer += bytes }

  /// The next complete reply.
  mutating func next() throws(Fault) -> Reply? {
    while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
      guard end <= Self.maxLineBytes else { throw .malformed }
      var line = buffer[..<end]
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      let (isLast, number, text) = try Self.parse(Array(line))
      buffer.removeFirst(end + 1)
      guard code ?? number == number, lines.count < Self.maxLines else { throw .malformed }
      code = number
      lines.append(text)
      guard isLast else { continue }
      let reply = Reply(code: number, lines: lines)
      (code, lines) = (nil, [])
      return reply
    }
    guard buffer.count <= Self.maxLineBytes else { throw .malformed }
    return nil
  }

  private static func parse(_ line: [UInt8]) throws(Fault) -> (isLast: Bool, code: Int, text: String) {
    guard line.count >= 3, line[..<3].allSatisfy({ $0 &- 0x30 < 10 }), (0x32...0x35).contains(line[0]) else {
      throw .malformed
    }
    let code = line[..<3].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard line.count > 3 else { return (true, code, "") }
    guard line[3] == UInt8(ascii: " ") || line[3] == UInt8(ascii: "-") else { throw .malformed }
    return (line[3] == UInt8(ascii: " "), code, String(decoding: line[4...], as: UTF8.self))
  }
}
