public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// All custom emoji by name.
  func customEmoji() throws(Refusal) -> [CustomEmoji] {
    try run { connection in
      try connection.all(
        """
        select id, name
        from emoji
        order by name
        """
      ) { row in CustomEmoji(id: ID(try row.int(0)), name: try row.text(1)) }
    }
  }

  public func customEmoji(_ id: ID<CustomEmoji>) throws(Refusal) -> (emoji: CustomEmoji, file: ID<File>)? {
    try run { connection in
      try connection.first("select name, file_id from emoji where id = $1", id.number) { row in
        (CustomEmoji(id: id, name: try row.text(0)), ID(try row.int(1)))
      }
    }
  }

  public func hasCustomEmoji(named name: String) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from emoji where name = $1", name) { _ in true } ?? false
    }
  }

  /// Whether the file is the picture of a custom emoji.
  public func isCustomEmoji(_ file: ID<File>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from emoji where file_id = $1 limit 1", file.number) { _ in true } ?? false
    }
  }
}

extension WriteTransaction {
  /// Adds a custom emoji and logs the change of the settings, which list it.
  public func addCustomEmoji(
    _ name: String, _ file: ID<File>, by actor: ID<User>
  ) throws(Refusal) -> CustomEmoji {
    let emoji = CustomEmoji(id: ID(nextID()), name: name)
    try markUsed(file)
    try run { connection in
      try connection.execute(
        """
        insert into emoji (id, name, file_id)
        values ($1, $2, $3)
        """, emoji.id.number, name, file.number)
    }
    _ = try change(try settings(), by: actor)
    return emoji
  }

  /// Messages and reactions keep `:name:` as text.
  public func removeCustomEmoji(_ id: ID<CustomEmoji>, by actor: ID<User>) throws(Refusal) {
    guard let (_, file) = try customEmoji(id) else { return }
    try run { connection in try connection.execute("delete from emoji where id = $1", id.number) }
    try release([file])
    _ = try change(try settings(), by: actor)
  }
}
