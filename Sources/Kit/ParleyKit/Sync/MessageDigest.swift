import ParleyCrypto
import ParleyModel

/// The digest of a range of messages, as `GET /conversations/{id}/digest` defines it.
enum MessageDigest {
  static func of(_ messages: [Message]) throws(CryptoError) -> String {
    var lines: [UInt8] = []
    for message in messages { lines += Array(try line(message).utf8) }
    return Hex.text(try Digest.sha256(of: lines))
  }

  private static func line(_ message: Message) throws(CryptoError) -> String {
    let isDeleted = message.tombstone != nil
    let position = "\(message.seq) \(message.id) \(message.previous?.description ?? "0") \(message.revision)"
    return "\(position) \(isDeleted ? 1 : 0) \(try contentDigest(message))\n"
  }

  private static func contentDigest(_ message: Message) throws(CryptoError) -> String {
    guard let content = message.content else { return "-" }
    let files = content.attachments.map(\.description).joined(separator: ",")
    return Hex.text(
      try Digest.sha256(of: Array("\(content.text)\0\(message.replyTo?.description ?? "")\0\(files)".utf8)))
  }
}
