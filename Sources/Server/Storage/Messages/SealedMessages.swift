// The seals of removed messages, in the tables `sealed` and `sealed_attachment`.

import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Seals the content of a live message. The seal references the files before the message drops them, so that they
  /// stay in use.
  func seal(_ id: ID<Message>, until: Int64, partOf removal: ID<Removal>?) throws(Refusal) {
    var content = try content(of: id)
    content.isSolution = try isSolution(id)
    try run { connection in
      try connection.execute(
        """
        insert into sealed (message_id, content, until, removal_id)
        values ($1, $2, $3, $4)
        """, id.number, content.json, Int(until), removal?.number)
      try connection.execute(
        """
        insert into sealed_attachment (message_id, position, file_id, description)
        select message_id, position, file_id, description
        from attachment
        where message_id = $1
        """, id.number)
    }
  }

  /// The seal of a message; nil after its expiry, even if it has not been purged yet.
  func seal(of id: ID<Message>) throws(Refusal) -> Seal? {
    try run { connection in
      let content = try connection.first(
        """
        select content
        from sealed
        where message_id = $1 and until > $2
        """, id.number, Int(now)
      ) { row in try row.text(0) }
      return try content.map { try Seal(json: $0) }
    }
  }

  func sealedAttachments(of id: ID<Message>) throws(Refusal) -> [ID<File>] {
    try run { connection in
      try connection.all(
        """
        select file_id
        from sealed_attachment
        where message_id = $1
        order by position
        """, id.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Deletes the seal, if there is one, and releases its files.
  func breakSeal(of id: ID<Message>) throws(Refusal) {
    let files = try sealedAttachments(of: id)
    let count = try run { connection in
      try connection.execute("delete from sealed where message_id = $1", id.number)
    }
    if count > 0 {
      // A restored message keeps its poll.
      if try state(of: id).deletion != nil { try removePoll(of: id) }
      try recordDestruction()
    }
    try release(files)
  }

  private func content(of id: ID<Message>) throws(Refusal) -> Seal {
    guard var seal = try sealedColumns(of: id) else { throw .notFound }
    try readEntities(of: id, into: &seal.text)
    seal.revisions = try sealedRevisions(of: id)
    seal.notifications = try sealedNotifications(of: id)
    return seal
  }

  /// The content in the row of a message, with its annotations.
  private func sealedColumns(of id: ID<Message>) throws(Refusal) -> Seal? {
    try run { connection in
      let types = try connection.all(
        """
        select type
        from annotation
        where message_id = $1
        """, id.number
      ) { row in try row.text(0) }
      let location = try connection.first(
        """
        select name, latitude, longitude
        from location
        where message_id = $1
        """, id.number
      ) { row in
        Location(name: try row.optionalText(0), latitude: try row.double(1), longitude: try row.double(2))
      }
      return try connection.first(
        """
        select text, entities, annotations, sent_at, buttons, repost_of
        from message
        where id = $1
        """, id.number
      ) { row in
        var text = MessageText(try row.text(0))
        text.entities = try row.optionalText(1)
        return Seal(
          text: text,
          annotations: try row.optionalText(2).map { MessageAnnotations(json: $0, types: types, location: location) },
          sentAt: try row.optionalInt(3), buttons: try row.optionalText(4), repostOf: try row.optionalInt(5))
      }
    }
  }

  private func readEntities(of id: ID<Message>, into text: inout MessageText) throws(Refusal) {
    try run { connection in
      text.hashtags = try connection.all(
        """
        select tag
        from hashtag
        where message_id = $1
        """, id.number
      ) { row in try row.text(0) }
      text.mentions = try connection.all(
        """
        select user_id
        from mention
        where message_id = $1
        """, id.number
      ) { row in ID(try row.int(0)) }
      text.links = try connection.all(
        """
        select url
        from hyperlink
        where message_id = $1
        order by position
        """, id.number
      ) { row in try row.text(0) }
    }
  }

  private func sealedRevisions(of id: ID<Message>) throws(Refusal) -> [Seal.Revision] {
    try run { connection in
      try connection.all(
        """
        select revision, text, entities, edited_at, edited_by
        from revision
        where message_id = $1
        order by revision
        """, id.number
      ) { row in
        Seal.Revision(
          revision: try row.int(0), text: try row.text(1), entities: try row.optionalText(2), editedAt: try row.int(3),
          editedBy: try row.int(4))
      }
    }
  }

  private func sealedNotifications(of id: ID<Message>) throws(Refusal) -> [Seal.SealedNotification] {
    try run { connection in
      try connection.all(
        """
        select id, user_id, kind, conversation_id, actor_id, created_at, read_at
        from notification
        where message_id = $1
        order by user_id
        limit $2
        """, id.number, Self.notificationChunk
      ) { row in
        Seal.SealedNotification(
          id: try row.int(0), user: try row.int(1), kind: try row.text(2), conversation: try row.optionalInt(3),
          actor: try row.optionalInt(4), createdAt: try row.int(5), readAt: try row.optionalInt(6))
      }
    }
  }
}
