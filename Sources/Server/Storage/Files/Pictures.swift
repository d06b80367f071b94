// Files that stand for a person, a forum or the place.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// What somebody chose to be seen as.
  public func avatar(of account: ID<Account>) throws(Refusal) -> ID<File>? {
    try run { connection in
      try connection.first("select avatar_file_id from account where id = $1", account.number) { row in
        try row.optionalInt(0)
      }
    }.flatMap(\.self).map { ID($0) }
  }

  /// Whether it is somebody's picture.
  public func isAvatar(_ file: ID<File>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from account where avatar_file_id = $1 limit 1", file.number) { _ in true }
        ?? false
    }
  }

  /// Whose icon it is.
  public func forums(withIcon file: ID<File>, limit: Int) throws(Refusal) -> [ID<Forum>] {
    try run { connection in
      try connection.all("select id from forum where icon_file_id = $1 limit $2", file.number, limit) { row in
        ID(try row.int(0))
      }
    }
  }
}

extension WriteTransaction {
  /// Something shows it from now on.
  public func take(_ file: ID<File>) throws(Refusal) {
    try run { connection in
      try connection.execute("update file set unused_since = null where id = $1", file.number)
    }
  }

  /// Gives somebody a picture, or none; everyone is told.
  public func setAvatar(_ file: ID<File>?, of person: Person, by actor: ID<Account>) throws(Refusal) {
    let account = person.account
    let before = try avatar(of: account.id)
    guard before != file else { return }
    let revision = account.revision + 1
    if let file { try take(file) }
    try run { connection in
      try connection.execute(
        """
        update account
        set avatar_file_id = $1, revision = $2
        where id = $3
        """, file?.number, revision, account.id.number)
    }
    if let before { try letGo(of: [before]) }
    try log(.userUpdated, in: .site, subject: account.id.number, revision: revision, actor: actor.number)
  }
}
