// Pictures of users, forums and the site.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// A user's avatar.
  public func avatar(of user: ID<User>) throws(Refusal) -> ID<File>? {
    try run { connection in
      try connection.first("select avatar_file_id from account where id = $1", user.number) { row in
        try row.optionalInt(0)
      }
    }.flatMap(\.self).map { ID($0) }
  }

  /// Whether the file is a user's avatar.
  public func isAvatar(_ file: ID<File>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from account where avatar_file_id = $1 limit 1", file.number) { _ in true }
        ?? false
    }
  }

  /// Forums with this icon.
  public func forums(withIcon file: ID<File>, limit: Int) throws(Refusal) -> [ID<Forum>] {
    try run { connection in
      try connection.all("select id from forum where icon_file_id = $1 limit $2", file.number, limit) { row in
        ID(try row.int(0))
      }
    }
  }
}

extension WriteTransaction {
  /// Marks a file as used.
  public func markUsed(_ file: ID<File>) throws(Refusal) {
    try run { connection in
      try connection.execute("update file set unused_since = null where id = $1", file.number)
    }
  }

  /// Sets or clears a user's avatar.
  public func setAvatar(_ file: ID<File>?, of user: User, by actor: ID<User>) throws(Refusal) {
    let summary = user.summary
    let before = try avatar(of: summary.id)
    guard before != file else { return }
    let revision = summary.revision + 1
    if let file { try markUsed(file) }
    try run { connection in
      try connection.execute(
        """
        update account
        set avatar_file_id = $1, revision = $2
        where id = $3
        """, file?.number, revision, summary.id.number)
    }
    if let before { try release([before]) }
    try log(.userUpdated, in: .site, subject: summary.id.number, revision: revision, actor: actor.number)
  }
}
