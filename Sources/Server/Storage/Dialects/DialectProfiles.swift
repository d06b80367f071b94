// Members of users for clients of App.net and pnut that have no place in the account.

public import ParleyModel
import ParleySQLite

public struct DialectProfile: Sendable, Hashable {
  public var locale: String?
  public var timezone: String?
  /// A picture behind the profile.
  public var cover: ID<File>?

  public init(locale: String? = nil, timezone: String? = nil, cover: ID<File>? = nil) {
    self.locale = locale
    self.timezone = timezone
    self.cover = cover
  }
}

extension ReadTransaction {
  /// Empty for a user that has set none of them.
  public func dialectProfile(of user: ID<User>) throws(Refusal) -> DialectProfile {
    try run { connection in
      try connection.first(
        """
        select locale, timezone, cover_file_id
        from dialect_profile
        where user_id = $1
        """, user.number
      ) { row in
        DialectProfile(
          locale: try row.optionalText(0), timezone: try row.optionalText(1),
          cover: try row.optionalInt(2).map { ID($0) })
      }
    } ?? DialectProfile()
  }

  /// Whether the file is the cover of a user.
  public func isCover(_ file: ID<File>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from dialect_profile where cover_file_id = $1 limit 1", file.number) { _ in true }
        ?? false
    }
  }
}

extension WriteTransaction {
  public func set(_ profile: DialectProfile, of user: ID<User>) throws(Refusal) {
    let before = try dialectProfile(of: user)
    if let cover = profile.cover { try markUsed(cover) }
    try run { connection in
      try connection.execute(
        """
        insert into dialect_profile (user_id, locale, timezone, cover_file_id)
        values ($1, $2, $3, $4)
        on conflict (user_id) do update
        set locale = excluded.locale, timezone = excluded.timezone, cover_file_id = excluded.cover_file_id
        """, user.number, profile.locale, profile.timezone, profile.cover?.number)
    }
    if let cover = before.cover, cover != profile.cover { try release([cover]) }
  }

  func removeDialectProfile(of user: ID<User>) throws(Refusal) {
    let cover = try dialectProfile(of: user).cover
    try run { connection in
      try connection.execute("delete from dialect_profile where user_id = $1", user.number)
    }
    if let cover { try release([cover]) }
  }

  /// Removes a file as the cover of users.
  func removeCovers(_ file: ID<File>) throws(Refusal) {
    let count = try run { connection in
      try connection.execute(
        """
        update dialect_profile
        set cover_file_id = null
        where cover_file_id = $1
        """, file.number)
    }
    if count > 0 { try release([file]) }
  }
}
