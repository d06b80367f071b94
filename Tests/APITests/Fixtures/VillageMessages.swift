import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Forums, conversations and messages.
extension Village {
  /// Creates a forum as ada; returns its id and its room's.
  func garden(
    _ title: String = "garden", _ visibility: String = "members", members: [String] = [], _ more: [String: Any] = [:]
  ) async throws -> (forum: String, room: String) {
    var draft: [String: Any] = ["title": title, "visibility": visibility]
    draft.merge(more) { $1 }
    let made = try await request(.post, "/forums", as: "ada", draft)
    let forum = try #require(made["id"], "\(made.text)")
    let room = try #require(made["room_id"])
    for member in members {
      let answer = try await request(.put, "/forums/\(forum)/members/\(id(member))", as: "ada", [:])
      #expect(answer.status == 200, "\(answer.text)")
    }
    return (forum, room)
  }

  /// Creates a topic as ada.
  func topic(_ title: String, in forum: String) async throws -> String {
    let ada = ID<User>(Int(id("ada")) ?? 0)
    return try await community.store.write { tx throws(Refusal) in
      try tx.addTopic(title, in: ID(Int(forum) ?? 0), by: ada)
    }.description
  }

  /// Creates a conversation directly in the store.
  func conversation(_ kind: Conversation.Kind, _ users: [String], fromSeq: [String: Int] = [:]) async throws -> String {
    let users = users.map { (Int(id($0)) ?? 0, fromSeq[$0] ?? 1) }
    return try await community.store.write { tx throws(Refusal) in
      let id = tx.nextID()
      try tx.run { connection in
        try connection.execute(
          """
          insert into conversation (id, kind, created_by, created_at)
          values ($1, $2, $3, $4)
          """, id, kind.rawValue, users[0].0, Int(tx.now))
        for (user, from) in users {
          try connection.execute(
            """
            insert into participant (conversation_id, user_id, joined_at, from_seq)
            values ($1, $2, $3, $4)
            """, id, user, Int(tx.now), from)
        }
      }
      return id
    }.description
  }

  /// Posts a message over the API; expects 201. Returns its id.
  @discardableResult
  func post(
    _ text: String, in conversation: String, as name: String = "ada", _ more: [String: Any] = [:]
  ) async throws -> String {
    var draft = more
    draft["text"] = text
    let answer = try await request(.post, "/conversations/\(conversation)/messages", as: name, draft)
    return try #require(answer.status == 201 ? answer["id"] : nil, "\(answer.text)")
  }

  /// Sets a user's read position directly in the store.
  func read(_ conversation: String, as name: String, upTo seq: Int) async throws {
    let user = Int(id(name)) ?? 0
    try await community.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute(
          """
          insert into read_position (user_id, conversation_id, read_seq, delivered_seq)
          values ($1, $2, $3, $3)
          on conflict (user_id, conversation_id) do update
          set read_seq = excluded.read_seq, delivered_seq = excluded.delivered_seq
          """, user, Int(conversation) ?? 0, seq)
      }
    }
  }

  /// Creates a file row without bytes.
  func upload(_ name: String, by owner: String) async throws -> String {
    let owner = Int(id(owner)) ?? 0
    return try await community.store.write { tx throws(Refusal) in
      let id = tx.nextID()
      try tx.run { connection in
        try connection.execute(
          """
          insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at, unused_since)
          values ($1, $2, $3, 1, $4, 'image', 'image/png', $5, $5)
          """, id, owner, [UInt8](repeating: UInt8(id & 255), count: 32), name, Int(tx.now))
        try connection.execute(
          """
          insert into file_use (owner_id, bytes)
          select 0, sum(size) from file
          union all
          select owner_id, sum(size) from file where true group by owner_id
          on conflict (owner_id) do update
          set bytes = excluded.bytes
          """)
      }
      return id
    }.description
  }

  func mute(_ other: String, by name: String) async throws {
    let (one, two) = (Int(id(name)) ?? 0, Int(id(other)) ?? 0)
    try await community.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute(
          """
          insert into relation (user_id, kind, other_id, created_at)
          values ($1, 'mute', $2, $3)
          """, one, two, Int(tx.now))
      }
    }
  }

  /// The first column of a query.
  func rows(_ sql: String) async throws -> [String] {
    try await community.store.readInBackground { tx throws(Refusal) in
      try tx.run { connection in try connection.all(SQL(sql)) { row in try row.text(0) } }
    }
  }
}
