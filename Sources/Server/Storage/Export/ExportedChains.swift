// The chains of exported conversations, and a checkpoint of each: all that a reader needs to check them.

import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleySQLite

extension ExportTable {
  /// Conversations that the export has from their first message on. An earlier text of another user has no salt in the export of a
  /// user, who may not know the text.
  static let entries = ExportTable(
    "entries",
    "Entries of the chains of conversations: the creation and each change of a message. The digest is that of the salt and the "
      + "content; a content that is gone has no salt.",
    [
      "conversation_id": .id, "position": .number, "kind": .text, "seq": .number, "message_id": .id, "actor_id": .id,
      "at": .time, "revision": .number, "digest": .digest, "salt": .text,
    ],
    """
    select conversation_id, position, kind, seq, message_id, actor_id, at, revision, substr(proof, 1, 32), iif(
      length(proof) > 32 and ($1 = 0 or author_id = $1 or revision = newest), lower(hex(substr(proof, 33))), null)
    from (
      select m.conversation_id, m.chain_position as position, 'created' as kind, m.seq, m.id as message_id,
        m.author_id as actor_id, m.created_at as at, m.author_id, m.proof,
        ifnull((select min(revision) from chain_entry where message_id = m.id) - 1, m.revision) as revision,
        ifnull((select max(revision) from chain_entry where message_id = m.id), m.revision) as newest
      from export_scope s
      join message m on m.conversation_id = s.id
      where s.whole = 1 and s.from_seq = 1 and m.chain_position is not null
      union all
      select e.conversation_id, e.position, e.kind, m.seq, m.id, e.actor_id, e.at, m.author_id, e.proof, e.revision,
        (select max(revision) from chain_entry where message_id = m.id)
      from export_scope s
      join chain_entry e on e.conversation_id = s.id
      join message m on m.id = e.message_id
      where s.whole = 1 and s.from_seq = 1
    )
    order by conversation_id, position
    """)

  static let checkpoints = ExportTable(
    "checkpoints", "What the site has signed about the chains at the time of the export.",
    [
      "conversation_id": .id, "position": .number, "hash": .digest, "signed_at": .time, "path": .json, "key": .text,
      "signature": .text,
    ],
    """
    select conversation_id, position, hash, signed_at, path, key, signature
    from export_checkpoint
    order by conversation_id
    """)

  static let checkpointTable: SQL =
    """
    create temp table export_checkpoint (
      conversation_id integer primary key, position integer not null, hash blob not null, signed_at integer not null,
      path text not null, key text not null, signature text not null
    )
    """
}

extension Connection {
  /// Maximum number of checkpoints with one signature. The paths of a batch are in memory at once.
  private static let checkpointsPerBatch = 1_024

  /// Signs the chains of the exported conversations.
  func signExportedChains(by key: Ed25519, at time: Int64) throws {
    var last = 0
    while true {
      let states = try all(
        SQL(
          """
          select \(ChainEnd.columns)
          from export_scope s
          join conversation c on c.id = s.id
          where s.id > $1 and s.whole = 1 and s.from_seq = 1 and c.chain_length > 0
          order by s.id
          limit $2
          """), last, Self.checkpointsPerBatch
      ) { row in ChainState(ID(try row.int("chain_of")), try ChainEnd(row)) }
      for checkpoint in try Checkpoint.signed(states, at: time, by: key) {
        try execute(
          """
          insert into export_checkpoint (conversation_id, position, hash, signed_at, path, key, signature)
          values ($1, $2, $3, $4, $5, $6, $7)
          """, checkpoint.conversation.number, checkpoint.position, Hex.bytes(checkpoint.hash), Int(time),
          checkpoint.path.jsonText, checkpoint.key, checkpoint.signature)
      }
      guard states.count == Self.checkpointsPerBatch, let end = states.last else { return }
      last = end.conversation.number
    }
  }
}
