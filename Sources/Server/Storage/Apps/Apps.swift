// Other programs that users may let act for them. Only the digest of a secret is stored.

import ParleyJSON
public import ParleyModel
import ParleySQLite

/// A new app.
public struct NewStoredApp: Sendable {
  public let draft: AppDraft
  /// Digest of the secret; nil for a public client.
  public let digest: [UInt8]?
  /// Nil for an app that registers itself, which is not verified.
  public let creator: ID<User>?

  public init(_ draft: AppDraft, digest: [UInt8]?, creator: ID<User>?) {
    self.draft = draft
    self.digest = digest
    self.creator = creator
  }
}

extension ReadTransaction {
  /// - Parameter countsUsers: whether its users are counted, which takes time for an app of many.
  public func app(_ id: ID<App>, countsUsers: Bool = true) throws(Refusal) -> App? {
    try run { connection in
      try connection.first(
        SQL("select \(App.columns(countsUsers: countsUsers)) from app a where a.id = $1"), id.number
      ) { row in try App(row) }
    }
  }

  /// The digest of the secret of an app; nil for a public client.
  public func secretDigest(of app: ID<App>) throws(Refusal) -> [UInt8]? {
    try run { connection in
      try connection.first("select digest from app where id = $1 and digest is not null", app.number) { row in
        try row.bytes(0)
      }
    }
  }

  /// Apps in the order of their creation.
  public func apps(_ slice: ListSlice) throws(Refusal) -> [App] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(App.columns(countsUsers: true))
          from app a
          where a.id \(page.comparison) $1
          order by a.id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try App(row) }
    }
  }

  /// The apps that users created, or those that registered themselves.
  public func appCount(selfRegistered: Bool) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from app where (created_by is null) = $1", selfRegistered) { row in
        try row.int(0)
      } ?? 0
    }
  }

  public func hasEnabledApp() throws(Refusal) -> Bool {
    try run { connection in try connection.first("select 1 from app where enabled = 1 limit 1") { _ in true } ?? false }
  }
}

extension WriteTransaction {
  public func add(_ new: NewStoredApp) throws(Refusal) -> ID<App> {
    let id = ID<App>(nextID())
    let draft = new.draft
    try run { connection in
      try connection.execute(
        """
        insert into app (id, name, website, redirect_uris, scope, digest, verified, enabled, created_by, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9)
        """, id.number, draft.name, draft.website, draft.redirectURIs.stored.text, draft.scope.rawValue, new.digest,
        new.creator != nil, new.creator?.number, Int(now))
    }
    return id
  }

  /// Stores name, website, redirect URIs, scope and both switches.
  public func set(_ app: App) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update app
        set name = $1, website = $2, redirect_uris = $3, scope = $4, verified = $5, enabled = $6, revision = revision + 1
        where id = $7
        """, app.name, app.website, app.redirectURIs.stored.text, app.scope.rawValue, app.isVerified, app.isEnabled,
        app.id.number)
      // The names of tokens are those of their apps.
      try connection.execute(
        """
        update session
        set name = $1
        where name <> $1 and grant_id in (select id from app_grant where app_id = $2)
        """, app.name, app.id.number)
    }
  }

  public func setSecret(_ digest: [UInt8], of app: ID<App>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update app set digest = $1, revision = revision + 1 where id = $2", digest, app.number)
    }
  }

  /// Deletes an app, whose grants have ended.
  public func delete(_ app: ID<App>) throws(Refusal) {
    try run { connection in try connection.execute("delete from app where id = $1", app.number) }
  }

  /// Deletes apps that registered themselves a day ago and that no user has connected. Returns whether more may remain.
  func removeUnusedApps(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from app
        where id in (
          select a.id
          from app a
          where a.created_by is null and a.verified = 0 and a.created_at <= $1
            and not exists (select 1 from app_grant g where g.app_id = a.id)
          order by a.created_at, a.id
          limit $2
        )
        """, Int(now) - 86_400_000, limit) == limit
    }
  }
}

extension StoredValue {
  /// The text of a list.
  fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension App {
  fileprivate static func columns(countsUsers: Bool) -> String {
    """
    a.id, a.name, a.website, a.redirect_uris, a.scope, a.digest is not null as confidential, a.verified, a.enabled,
    a.created_by, a.created_at, a.revision, \(countsUsers ? Self.userCount : "0") as users
    """
  }

  private static let userCount = """
    (
      select count(distinct g.user_id)
      from app_grant g
      where g.app_id = a.id
    )
    """

  fileprivate init(_ row: borrowing Row) throws {
    guard let uris = [String](.text(try row.text("redirect_uris"))) else {
      throw row.unexpected(try row.position("redirect_uris"))
    }
    self.init(
      id: ID(try row.int("id")), name: try row.text("name"), website: try row.optionalText("website"),
      redirectURIs: uris, scope: try row.word("scope"), isConfidential: try row.bool("confidential"),
      isVerified: try row.bool("verified"), isEnabled: try row.bool("enabled"),
      creator: try row.optionalInt("created_by").map { ID($0) }, createdAt: Int64(try row.int("created_at")),
      userCount: try row.int("users"), revision: try row.int("revision"))
  }
}
