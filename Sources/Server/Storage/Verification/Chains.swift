import ParleySQLite

extension Check {
  static let chains = Check(
    "chains",
    "the messages of each conversation are numbered from 1 without a hole, each names the one before it, and the "
      + "conversation knows the last"
  ) { examination in
    examination.expect(try examination.number("select count(*) from message"))
    let places = try examination.connection.prepare(
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
    var placeCount = 0
    var messageCount = 0
    var hasMessage = try messages.step()
    while try places.step() {
      let place = try places.row.int(0)
      var last = (seq: 0, id: 0)
      // Those of a conversation that is not there are a matter of foreign keys.
      while hasMessage, try messages.row.int(0) < place { hasMessage = try messages.step() }
      while hasMessage, try messages.row.int(0) == place {
        let (seq, id) = (try messages.row.int(1), try messages.row.int(2))
        if seq != last.seq + 1 {
          examination.fault("conversation \(place): message \(id) has seq \(seq), and the one before it \(last.seq)")
        }
        let previous = try messages.row.optionalInt(3) ?? 0
        if previous != last.id {
          examination.fault(
            "conversation \(place): message \(id) follows \(last.id.orNone), and names \(previous.orNone)")
        }
        last = (seq, id)
        messageCount += 1
        try examination.step()
        hasMessage = try messages.step()
      }
      let told = (seq: try places.row.int(1), id: try places.row.int(2))
      if told != last {
        examination.fault(
          "conversation \(place) says that it ends with message \(told.id.orNone) at seq \(told.seq), and ends with "
            + "\(last.id.orNone) at \(last.seq)")
      }
      placeCount += 1
    }
    examination.count(placeCount, "conversations")
    examination.count(messageCount, "messages")
  }
}

extension Int {
  /// An id in a sentence; 0 is nobody's.
  fileprivate var orNone: String { self == 0 ? "none" : String(self) }
}
