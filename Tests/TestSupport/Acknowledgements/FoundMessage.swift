import ParleyModel
import ParleySQLite
import Storage

/// A message read from the database.
public struct FoundMessage: Sendable {
  public let position: AcknowledgedMessage.Position
  public var message: ExpectedMessage

  /// All messages with a client ID, by client ID. Requires that no writer is active.
  public static func all(in folder: String) throws -> [String: [FoundMessage]] {
    let connection = try Connection.reader(folder + "/parley.db")
    defer { connection.close() }
    var earlier: [Int: [Int: String]] = [:]
    try connection.each(
      """
      select message_id, revision, text
      from revision
      union all
      select s.message_id, r.value ->> 'revision', r.value ->> 'text'
      from sealed s, json_each(s.content, '$.revisions') r
      """
    ) { row in earlier[try row.int(0), default: [:]][try row.int(1)] = try row.text(2) }
    var all: [String: [FoundMessage]] = [:]
    try connection.each(
      """
      select m.client_id, m.id, m.seq, m.revision, m.deletion, coalesce(m.text, s.content ->> 'text')
      from message m
      left join sealed s on s.message_id = m.id
      where m.client_id is not null
      """
    ) { row in
      let position = AcknowledgedMessage.Position(id: try row.int(1), seq: try row.int(2))
      var message = ExpectedMessage(
        revision: try row.int(3), deletion: try row.optionalText(4).flatMap { Deletion(rawValue: $0) },
        text: try row.optionalText(5))
      message.earlier = earlier[position.id] ?? [:]
      all[try row.text(0), default: []].append(FoundMessage(position: position, message: message))
    }
    return all
  }
}
