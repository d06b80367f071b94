import ParleyModel
import ParleySQLite

@testable import Community
@testable import Storage

/// Reads the tables without the permission rules.
extension Stage {
  /// Completes jobs after a step that may have changed permissions, and records the permissions.
  func noteAccess() async throws {
    await server.community.store.jobs.run()
    let (event, rows) = try server.view.read { tx throws(Refusal) in
      let rows = try tx.run { connection in
        try connection.all(
          """
          select p.user_id, p.conversation_id, p.from_seq
          from participant p
          join conversation c on c.id = p.conversation_id
          where c.state = 'open'
          """
        ) { row in (try row.int(0), try row.int(1), try row.int(2)) }
      }
      return (try tx.lastEvent(), rows)
    }
    var access: Audit.Access = [:]
    for (user, conversation, fromSeq) in rows { access[ID(user), default: [:]][ID(conversation)] = fromSeq }
    audit.note(access, at: event)
  }

  func seq(_ message: ID<Message>) -> Int? { stored("m.id = $1", message.number).first?.seq }

  func seq(_ clientID: String) -> Int? { stored("m.client_id = $1", clientID).first?.seq }

  func storedSends() -> [String: Int] {
    var sends: [String: Int] = [:]
    for (id, clientID, _) in stored("m.client_id <> $1", "") {
      if let before = sends[clientID] { fail("\(clientID) is stored as \(before) and as \(id)") }
      sends[clientID] = id
    }
    return sends
  }

  /// The client ids of the posted messages that are deleted.
  func deletedSends() -> Set<String> {
    Set(stored("m.client_id <> $1 and m.deletion is not null", "").map(\.clientID))
  }

  /// Whether the message exists and is not deleted.
  func exists(_ message: ID<Message>) -> Bool {
    !stored("m.deletion is null and m.id = $1", message.number).isEmpty
  }

  /// The ids of all messages and conversations.
  func storedIDs() -> Set<Int> {
    do {
      return try server.view.read { tx throws(Refusal) in
        try tx.run { connection in
          Set(try connection.all("select id from message union all select id from conversation") { try $0.int(0) })
        }
      }
    } catch {
      fail("the tables can't be read: \(error)")
      return []
    }
  }

  private func stored(_ condition: String, _ value: some Bindable) -> [(id: Int, clientID: String, seq: Int)] {
    do {
      return try server.view.read { tx throws(Refusal) in
        try tx.run { connection in
          try connection.all(
            SQL(
              """
              select m.id, coalesce(m.client_id, ''), m.seq
              from message m
              where \(condition)
              order by m.id
              """), value
          ) { row in (try row.int(0), try row.text(1), try row.int(2)) }
        }
      }
    } catch {
      fail("the tables can't be read: \(error)")
      return []
    }
  }
}
