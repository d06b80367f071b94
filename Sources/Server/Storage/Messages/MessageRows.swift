// Rows of a live message in other tables, for lookups: hashtags, mentions, links, annotation types, location, files. A
// tombstone has none.

import ParleyModel
import ParleySQLite

extension WriteTransaction {
  func addRows(
    of text: MessageText, to message: ID<Message>, in conversation: ID<Conversation>
  ) throws(Refusal) {
    for tag in text.hashtags {
      try run { connection in
        try connection.execute(
          """
          insert into hashtag (tag, conversation_id, message_id)
          values ($1, $2, $3)
          on conflict do nothing
          """, tag, conversation.number, message.number)
      }
    }
    for user in text.mentions {
      try run { connection in
        try connection.execute(
          """
          insert into mention (user_id, message_id)
          values ($1, $2)
          on conflict do nothing
          """, user.number, message.number)
      }
    }
    for (position, url) in text.links.enumerated() {
      try run { connection in
        try connection.execute(
          """
          insert into hyperlink (message_id, position, url)
          values ($1, $2, $3)
          """, message.number, position, url)
      }
    }
  }

  func addRows(
    of types: [String], _ location: Location?, to message: ID<Message>, in conversation: ID<Conversation>
  ) throws(Refusal) {
    for type in types {
      try run { connection in
        try connection.execute(
          """
          insert into annotation (type, conversation_id, message_id)
          values ($1, $2, $3)
          on conflict do nothing
          """, type, conversation.number, message.number)
      }
    }
    guard let location else { return }
    try run { connection in
      try connection.execute(
        """
        insert into location (message_id, conversation_id, name, latitude, longitude)
        values ($1, $2, $3, $4, $5)
        """, message.number, conversation.number, location.name, location.latitude, location.longitude)
    }
  }

  /// Removes the rows derived from the text.
  func removeTextRows(of message: ID<Message>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from hashtag where message_id = $1", message.number)
      try connection.execute("delete from mention where message_id = $1", message.number)
      try connection.execute("delete from hyperlink where message_id = $1", message.number)
    }
  }

  /// Removes all rows except attachments.
  func removeRows(of message: ID<Message>) throws(Refusal) {
    try removeTextRows(of: message)
    try run { connection in
      try connection.execute("delete from annotation where message_id = $1", message.number)
      try connection.execute("delete from location where message_id = $1", message.number)
      try connection.execute("delete from revision where message_id = $1", message.number)
    }
  }
}

// MARK: Files

extension ReadTransaction {
  func attachments(of message: ID<Message>) throws(Refusal) -> [ID<File>] {
    try run { connection in
      try connection.all(
        """
        select file_id
        from attachment
        where message_id = $1
        order by position
        """, message.number
      ) { row in ID(try row.int(0)) }
    }
  }
}

/// The files of a message with their descriptions.
struct AttachedFiles: Hashable {
  let files: [ID<File>]
  /// One for each file; no element if all are empty.
  let descriptions: [String]

  /// - Parameter descriptions: in the order of the files; missing ones are empty.
  init(_ files: [ID<File>], _ descriptions: [String]) {
    self.files = files
    let hasAny = descriptions.contains { !$0.isEmpty }
    self.descriptions = hasAny ? files.indices.map { $0 < descriptions.count ? descriptions[$0] : "" } : []
  }
}

extension ReadTransaction {
  func attachedFiles(of message: ID<Message>) throws(Refusal) -> AttachedFiles {
    try attachedFiles(of: message, in: "attachment")
  }

  /// - Parameter table: `attachment` or `sealed_attachment`.
  func attachedFiles(of message: ID<Message>, in table: String) throws(Refusal) -> AttachedFiles {
    let rows = try run { connection in
      try connection.all(
        SQL(
          """
          select file_id, ifnull(description, '')
          from \(table)
          where message_id = $1
          order by position
          """), message.number
      ) { row in (file: ID<File>(try row.int(0)), description: try row.text(1)) }
    }
    return AttachedFiles(rows.map(\.file), rows.map(\.description))
  }
}

extension WriteTransaction {
  func attach(_ attached: AttachedFiles, to message: ID<Message>) throws(Refusal) {
    for (position, file) in attached.files.enumerated() {
      try use(file)
      let description = attached.descriptions.isEmpty ? "" : attached.descriptions[position]
      try run { connection in
        try connection.execute(
          """
          insert into attachment (message_id, position, file_id, description)
          values ($1, $2, $3, $4)
          """, message.number, position, file.number, description.isEmpty ? nil : description)
      }
    }
  }

  /// Flags a file as in use.
  func use(_ file: ID<File>) throws(Refusal) {
    let count = try run { connection in
      try connection.execute("update file set unused_since = null where id = $1", file.number)
    }
    guard count == 1 else { throw .notFound }
  }

  func detachFiles(of message: ID<Message>) throws(Refusal) {
    let files = try attachments(of: message)
    if files.isEmpty { return }
    try run { connection in
      try connection.execute("delete from attachment where message_id = $1", message.number)
    }
    try release(files)
  }

  /// Flags files without a remaining reference as unused from now on.
  func release(_ files: [ID<File>]) throws(Refusal) {
    for file in files {
      try run { connection in
        try connection.execute(
          """
          update file
          set unused_since = $1
          where id = $2 and unused_since is null
          and not exists (select 1 from attachment where file_id = $2)
          and not exists (select 1 from sealed_attachment where file_id = $2)
          and not exists (select 1 from held_attachment where file_id = $2)
          and not exists (select 1 from account where avatar_file_id = $2)
          and not exists (select 1 from dialect_profile where cover_file_id = $2)
          and not exists (select 1 from forum where icon_file_id = $2)
          and not exists (select 1 from emoji where file_id = $2)
          and not exists (select 1 from setting where name = 'icon_file' and value = $3)
          """, Int(now), file.number, file.description)
      }
    }
  }
}
