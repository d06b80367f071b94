import ParleySQLite

extension Check {
  static let chains = Check(
    "chains",
    "the messages of each conversation are numbered from 1 without gaps, each names its predecessor, and the "
      + "conversation names the last"
  ) { examination in
    examination.expect(try examination.number("select count(*) from message"))
    let conversations = try examination.connection.prepare(
      """
      select id, last_seq, last_message_id
      from conversation
      order by id
      """)
    let messages = try examination.connection.prepare(
      """
      select conversation_id, seq, id, previous_message
      from message
      order by conversation_id, seq
      """)
    var conversationCount = 0
    var messageCount = 0
    var hasMessage = try messages.step()
    while try conversations.step() {
      let conversation = try conversations.row.int(0)
      var last = (seq: 0, id: 0)
      // Messages of a missing conversation are reported by the check of foreign keys.
      while hasMessage, try messages.row.int(0) < conversation { hasMessage = try messages.step() }
      while hasMessage, try messages.row.int(0) == conversation {
        let (seq, id) = (try messages.row.int(1), try messages.row.int(2))
        if seq != last.seq + 1 {
          examination.fault("conversation \(conversation): message \(id) has seq \(seq), its predecessor \(last.seq)")
        }
        let previous = try messages.row.optionalInt(3) ?? 0
        if previous != last.id {
          examination.fault(
            "conversation \(conversation): message \(id) follows \(last.id.orNone), but names \(previous.orNone)")
        }
        last = (seq, id)
        messageCount += 1
        try examination.step()
        hasMessage = try messages.step()
      }
      let recorded = (seq: try conversations.row.int(1), id: try conversations.row.int(2))
      if recorded != last {
        examination.fault(
          "conversation \(conversation) names message \(recorded.id.orNone) at seq \(recorded.seq) as its last, but ends with "
            + "\(last.id.orNone) at \(last.seq)")
      }
      conversationCount += 1
    }
    examination.count(conversationCount, "conversations")
    examination.count(messageCount, "messages")
  }
}

extension Int {
  /// An id in a fault; 0 is none.
  fileprivate var orNone: String { self == 0 ? "none" : String(self) }
}
