import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleySQLite

extension Check {
  static let chainHashes = chainHashes(comparing: [])

  /// - Parameter checkpoints: what the site has signed about its chains.
  static func chainHashes(comparing checkpoints: [Checkpoint]) -> Check {
    Check(
      "hashes",
      "the hash of each entry of a chain follows from the entry and the hash before it, the conversation names the last, and proofs "
        + "fit the texts"
    ) { examination in
      examination.expect(
        try examination.number(
          """
          select 2 * (select count(*) from message) + (select count(*) from chain_entry) + (select count(*) from revision)
          """))
      var walk = try ChainWalk(examination, checkpoints)
      let conversations = try examination.connection.prepare(
        SQL(
          """
          select \(ChainEnd.columns)
          from conversation c
          order by c.id
          """))
      var counts = (conversations: 0, entries: 0)
      let creations = try examination.connection.prepare(ChainWalk.creations)
      let changes = try examination.connection.prepare(ChainWalk.changes)
      walk.hasCreation = try creations.step()
      walk.hasChange = try changes.step()
      while try conversations.step() {
        let conversation = try conversations.row.int("chain_of")
        let end = try walk.end(of: conversation, creations, changes)
        let recorded = try ChainEnd(conversations.row)
        if end != recorded {
          examination.fault(
            "conversation \(conversation): its chain has \(end.position) entries up to seq \(end.seq) and ends with "
              + "\(Hex.text(end.hash)), but it names \(recorded.position) up to \(recorded.seq) and \(Hex.text(recorded.hash))"
          )
        }
        counts.conversations += 1
        counts.entries += end.position
      }
      walk.reportMissing()
      examination.count(counts.conversations, "conversations")
      examination.count(counts.entries, "entries")
      try checkProofs(examination)
    }
  }

  /// The ids of the files of `message m`, as digests have them.
  private static let filesOfMessage = """
    (
      select group_concat(file_id, ',')
      from (select file_id from attachment where message_id = m.id order by position)
    ) as files
    """

  /// Whether a proof is that of the text, the parent and the files of a row.
  private static func proves(_ proof: ContentProof, _ text: String, _ row: borrowing Row) throws -> Bool {
    try proof.proves(
      DigestedContent.bytes(
        text, replyTo: try row.optionalInt("reply_to"), files: try row.optionalText("files") ?? ""))
  }

  /// Compares proofs that have a salt with the texts.
  private static func checkProofs(_ examination: Examination) throws {
    let current = try examination.connection.prepare(
      SQL(
        """
        select m.id, m.text, m.reply_to, iif(e.message_id is null, m.proof, e.proof) as proof, \(filesOfMessage)
        from message m
        join conversation c on c.id = m.conversation_id and c.chained_seq >= m.seq
        left join chain_entry e on e.message_id = m.id
          and e.revision = (select max(revision) from chain_entry where message_id = m.id)
        order by m.id
        """))
    while try current.step() {
      let id = try current.row.int("id")
      let proof = try current.row.optionalBytes("proof").flatMap { ContentProof(stored: $0) }
      if let text = try current.row.optionalText("text"), try proof.map({ try proves($0, text, current.row) }) != true {
        examination.fault("message \(id): its text is not the one in the chain")
      }
      try examination.step()
    }
    try examination.expectNone(
      """
      select m.id
      from message m
      where m.deletion is not null and (length(m.proof) > 32 or exists (
        select 1
        from chain_entry e
        where e.message_id = m.id and length(e.proof) > 32
      ))
      order by m.id
      """
    ) { row in "message \(try row.int(0)) is deleted, but the salt of a text remains" }
    let earlier = try examination.connection.prepare(
      SQL(
        """
        select m.id, r.revision, r.text, m.reply_to, \(filesOfMessage),
          case
            when e.message_id is not null then e.proof
            when r.revision = (select min(revision) from chain_entry where message_id = m.id) - 1 then m.proof
          end as proof
        from revision r
        join message m on m.id = r.message_id
        left join chain_entry e on e.message_id = r.message_id and e.revision = r.revision
        order by r.message_id, r.revision
        """))
    while try earlier.step() {
      let proof = try earlier.row.optionalBytes("proof").flatMap { ContentProof(stored: $0) }
      guard let proof, proof.salt != nil else { continue }
      if try !proves(proof, try earlier.row.text("text"), earlier.row) {
        examination.fault(
          "message \(try earlier.row.int("id")): its text of revision \(try earlier.row.int("revision")) is not the one in "
            + "the chain")
      }
      try examination.step()
    }
  }
}

/// Follows the chains of all conversations with two ordered cursors: entries of creations, and of changes.
private struct ChainWalk {
  let examination: Examination
  var hasCreation = false
  var hasChange = false
  /// By conversation; those that were not reached yet.
  private var checkpoints: [Int: [Checkpoint]]

  static let creations: SQL = """
    select m.conversation_id, m.chain_position, m.id, m.author_id, m.created_at, m.proof, m.seq
    from message m
    order by m.conversation_id, m.seq
    """
  static let changes: SQL = """
    select e.conversation_id, e.position, e.message_id, e.actor_id, e.at, e.proof, m.seq, e.kind
    from chain_entry e
    join message m on m.id = e.message_id
    order by e.conversation_id, e.position
    """

  init(_ examination: Examination, _ checkpoints: [Checkpoint]) throws {
    self.examination = examination
    self.checkpoints = Dictionary(grouping: checkpoints) { $0.conversation.number }
  }

  /// Steps over all entries of a conversation, and compares the hashes with the checkpoints.
  mutating func end(
    of conversation: Int, _ creations: borrowing Statement, _ changes: borrowing Statement
  ) throws -> ChainEnd {
    var end = try ChainEnd(of: conversation)
    compare(end, in: conversation)
    while true {
      // Rows of missing conversations are reported by the check of foreign keys.
      while hasCreation, try creations.row.int(0) < conversation { hasCreation = try creations.step() }
      while hasChange, try changes.row.int(0) < conversation { hasChange = try changes.step() }
      var created: Int?
      if hasCreation, try creations.row.int(0) == conversation { created = try creations.row.optionalInt(1) }
      var changed: Int?
      if hasChange, try changes.row.int(0) == conversation { changed = try changes.row.int(1) }
      guard let position = [created, changed].compactMap(\.self).min() else { break }
      if position != end.position + 1 {
        examination.fault("conversation \(conversation): entry \(position) follows entry \(end.position)")
      }
      if position == created {
        try end.append(try Self.entry(creations.row, .created))
        hasCreation = try creations.step()
      } else {
        let kind = ChainEntry.Kind(rawValue: try changes.row.text(7)) ?? .created
        try end.append(try Self.entry(changes.row, kind))
        hasChange = try changes.step()
      }
      compare(end, in: conversation)
      try examination.step()
    }
    while hasCreation, try creations.row.int(0) == conversation {
      if try creations.row.optionalInt(1) != nil {
        examination.fault(
          "conversation \(conversation): message \(try creations.row.int(2)) has an entry, one before has none")
      }
      hasCreation = try creations.step()
    }
    return end
  }

  private static func entry(_ row: borrowing Row, _ kind: ChainEntry.Kind) throws -> ChainEntry {
    ChainEntry(
      kind: kind, seq: try row.int(6), message: try row.int(2), actor: try row.int(3), at: try row.int(4),
      proof: try row.optionalBytes(5).flatMap { ContentProof(stored: $0) })
  }

  private mutating func compare(_ end: ChainEnd, in conversation: Int) {
    guard let expected = checkpoints[conversation] else { return }
    for checkpoint in expected where checkpoint.position == end.position && checkpoint.hash != Hex.text(end.hash) {
      examination.fault(
        "conversation \(conversation): the checkpoint of \(Timestamp.format(Int(checkpoint.signedAt))) has another hash at entry "
          + "\(end.position): this is not the history that the site signed")
    }
    let later = expected.filter { $0.position > end.position }
    checkpoints[conversation] = later.isEmpty ? nil : later
  }

  /// Checkpoints beyond the ends of the chains.
  func reportMissing() {
    for checkpoint in checkpoints.values.joined() {
      examination.fault(
        "conversation \(checkpoint.conversation): the checkpoint of \(Timestamp.format(Int(checkpoint.signedAt))) is at entry "
          + "\(checkpoint.position), which is missing")
    }
  }
}
