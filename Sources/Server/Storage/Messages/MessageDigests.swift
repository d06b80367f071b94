// The digest of a conversation: SHA-256 over one line per message. Texts are hashed in SQLite's memory, and attachments
// are loaded for one chunk of messages at a time.

import ParleyCrypto
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The digest of a range of `seq`, and of up to `parts` parts of nearly equal size. A range that begins before the
  /// viewer's history or ends after the last message is refused. The default is the whole visible range.
  public func digest(
    of conversation: ID<Conversation>, fromSeq: Int? = nil, toSeq: Int? = nil, parts: Int = 16, historyFrom: Int = 1
  ) throws(Refusal) -> ConversationDigest {
    guard let latest = try lastSeq(of: conversation) else { throw .notFound }
    let from = fromSeq ?? historyFrom
    guard from >= historyFrom, from <= max(latest + 1, historyFrom) else { throw .invalid("from_seq", .invalid) }
    let last = max(latest, from - 1)
    let to = toSeq ?? last
    guard from - 1...last ~= to else { throw .invalid("to_seq", .invalid) }
    guard 1...DigestLimits.parts ~= parts else { throw .invalid("parts", .outOfRange(1...DigestLimits.parts)) }

    var whole = try hashing { () throws(CryptoError) in try Digest(.sha256) }
    var digests: [ConversationDigest.Part] = []
    for seqs in Self.split(from..<to + 1, parts) {
      var part = try hashing { () throws(CryptoError) in try Digest(.sha256) }
      for chunk in Self.chunks(of: seqs) {
        let lines = try lines(of: conversation, chunk)
        try hashing { () throws(CryptoError) in
          try whole.update(lines)
          try part.update(lines)
        }
      }
      let digest = try finish(part)
      digests.append(ConversationDigest.Part(seqs.lowerBound...seqs.upperBound - 1, digest: digest))
    }
    return ConversationDigest(digest: try finish(whole), parts: digests, lastEvent: try lastEvent())
  }

  /// Non-empty parts whose sizes differ by at most one.
  private static func split(_ seqs: Range<Int>, _ parts: Int) -> [Range<Int>] {
    let count = min(parts, seqs.count)
    return (0..<count).map { part in
      seqs.lowerBound + seqs.count * part / count..<seqs.lowerBound + seqs.count * (part + 1) / count
    }
  }

  private static func chunks(of seqs: Range<Int>) -> [Range<Int>] {
    stride(from: seqs.lowerBound, to: seqs.upperBound, by: DigestLimits.chunk).map { start in
      start..<min(start + DigestLimits.chunk, seqs.upperBound)
    }
  }

  /// `seq SP id SP previous_message SP revision SP deleted SP h LF` for each message.
  private func lines(of conversation: ID<Conversation>, _ seqs: Range<Int>) throws(Refusal) -> [UInt8] {
    var lines: [UInt8] = []
    lines.reserveCapacity(seqs.count * 112)
    try run { connection in
      let attachments = try Self.attachments(of: conversation, seqs, connection)
      var content: [UInt8] = []
      try connection.each(
        """
        select seq, id, previous_message, revision, text, reply_to
        from message
        where conversation_id = $1 and seq >= $2 and seq < $3
        order by seq
        """, conversation.number, seqs.lowerBound, seqs.upperBound
      ) { row in
        let seq = try row.int(0)
        // A tombstone is a message without text. A check constraint of the table enforces that.
        let isDeleted = row.isNull(4)
        let numbers = [seq, try row.int(1), try row.optionalInt(2) ?? 0, try row.int(3), isDeleted ? 1 : 0]
        for number in numbers { lines.append(contentsOf: "\(number) ".utf8) }
        if isDeleted {
          lines.append(UInt8(ascii: "-"))
        } else {
          content.removeAll(keepingCapacity: true)
          try row.withBytes(4) { text in for index in text.indices { content.append(text[index]) } }
          DigestedContent.append(replyTo: try row.optionalInt(5), files: attachments[seq] ?? "", to: &content)
          lines.append(contentsOf: Hex.text(try Digest.sha256(of: content)).utf8)
        }
        lines.append(UInt8(ascii: "\n"))
      }
    }
    return lines
  }

  /// The file ids of each message, separated by commas.
  static func attachments(
    of conversation: ID<Conversation>, _ seqs: Range<Int>, _ connection: Connection
  ) throws -> [Int: String] {
    var attachments: [Int: String] = [:]
    try connection.each(
      """
      select m.seq, a.file_id
      from message m
      join attachment a on a.message_id = m.id
      where m.conversation_id = $1 and m.seq >= $2 and m.seq < $3
      order by m.seq, a.position
      """, conversation.number, seqs.lowerBound, seqs.upperBound
    ) { row in
      let seq = try row.int(0)
      let file = try row.int(1)
      if let before = attachments[seq] { attachments[seq] = "\(before),\(file)" } else { attachments[seq] = "\(file)" }
    }
    return attachments
  }

  private func finish(_ digest: consuming Digest) throws(Refusal) -> String {
    do { return Hex.text(try digest.finish()) } catch { throw .unavailable }
  }

  private func hashing<Value: ~Copyable>(_ body: () throws(CryptoError) -> Value) throws(Refusal) -> Value {
    do { return try body() } catch { throw .unavailable }
  }
}

public enum DigestLimits {
  /// Maximum number of parts.
  public static let parts = 1_024
  /// Number of messages read at a time.
  static let chunk = 512
}
