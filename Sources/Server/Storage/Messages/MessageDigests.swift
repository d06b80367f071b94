// A conversation's digest: SHA-256 over one line per message. The text is hashed where SQLite holds it, and no more than
// a stretch of attachments is in memory at once.

import ParleyCrypto
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The digest of `seqs`, and of up to `parts` parts of it, as even as they go. What begins before the viewer's history
  /// or ends after the last message is refused; nil is all that the viewer can see.
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
      for stretch in Self.stretches(seqs) {
        let lines = try lines(of: conversation, stretch)
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

  /// Parts that differ by one at most, none of them empty.
  private static func split(_ seqs: Range<Int>, _ parts: Int) -> [Range<Int>] {
    let count = min(parts, seqs.count)
    return (0..<count).map { part in
      seqs.lowerBound + seqs.count * part / count..<seqs.lowerBound + seqs.count * (part + 1) / count
    }
  }

  private static func stretches(_ seqs: Range<Int>) -> [Range<Int>] {
    stride(from: seqs.lowerBound, to: seqs.upperBound, by: DigestLimits.stretch).map { start in
      start..<min(start + DigestLimits.stretch, seqs.upperBound)
    }
  }

  /// `seq SP id SP previous_message SP revision SP deleted SP h LF` for each message.
  private func lines(of conversation: ID<Conversation>, _ seqs: Range<Int>) throws(Refusal) -> [UInt8] {
    var lines: [UInt8] = []
    lines.reserveCapacity(seqs.count * 112)
    try run { connection in
      let attachments = try Self.attachments(of: conversation, seqs, connection)
      var said: [UInt8] = []
      try connection.each(
        """
        select seq, id, previous_message, revision, text, reply_to
        from message
        where conversation_id = $1 and seq >= $2 and seq < $3
        order by seq
        """, conversation.number, seqs.lowerBound, seqs.upperBound
      ) { row in
        let seq = try row.int(0)
        // A tombstone is a message without a text: the table holds it to that.
        let isDeleted = row.isNull(4)
        let numbers = [seq, try row.int(1), try row.optionalInt(2) ?? 0, try row.int(3), isDeleted ? 1 : 0]
        for number in numbers { lines.append(contentsOf: "\(number) ".utf8) }
        if isDeleted {
          lines.append(UInt8(ascii: "-"))
        } else {
          said.removeAll(keepingCapacity: true)
          try row.withBytes(4) { text in for place in text.indices { said.append(text[place]) } }
          said.append(0)
          if let reply = try row.optionalInt(5) { said.append(contentsOf: "\(reply)".utf8) }
          said.append(0)
          said.append(contentsOf: (attachments[seq] ?? "").utf8)
          lines.append(contentsOf: Hex.text(try Digest.sha256(of: said)).utf8)
        }
        lines.append(UInt8(ascii: "\n"))
      }
    }
    return lines
  }

  /// The ids of the files of each message, with commas between.
  private static func attachments(
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
  /// How many parts may be asked for.
  public static let parts = 1_024
  /// How many messages are read at once.
  static let stretch = 512
}
