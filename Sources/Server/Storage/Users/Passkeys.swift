public import ParleyModel
import ParleySQLite

/// A passkey with all that a check of its answer needs.
public struct StoredPasskey: Sendable, Hashable {
  public let id: ID<Passkey>
  public let user: ID<User>
  /// COSE_Key.
  public let key: [UInt8]
  public let host: String
  public let signCount: Int
  public let isBackupEligible: Bool
}

/// A new passkey.
public struct NewPasskey: Sendable {
  public let user: ID<User>
  public let credentialID: [UInt8]
  public let key: [UInt8]
  public let host: String
  public let name: String
  public let signCount: Int
  public let isBackupEligible: Bool
  public let isBackedUp: Bool
  public let transports: [String]

  public init(
    user: ID<User>, credentialID: [UInt8], key: [UInt8], host: String, name: String, signCount: Int,
    isBackupEligible: Bool, isBackedUp: Bool, transports: [String]
  ) {
    (self.user, self.credentialID, self.key, self.host) = (user, credentialID, key, host)
    (self.name, self.signCount, self.transports) = (name, signCount, transports)
    (self.isBackupEligible, self.isBackedUp) = (isBackupEligible, isBackedUp)
  }
}

extension ReadTransaction {
  /// The passkeys of a user, in the order of their creation.
  public func passkeys(of user: ID<User>, _ slice: ListSlice) throws(Refusal) -> [Passkey] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select id, name, host, backed_up, created_at, last_used_at
          from passkey
          where user_id = $1 and id \(page.comparison) $2
          order by id \(page.order)
          limit $3
          """), user.number, page.number(), slice.limit
      ) { row in try Passkey(row) }
    }
  }

  public func passkey(_ id: ID<Passkey>, of user: ID<User>) throws(Refusal) -> Passkey? {
    try run { connection in
      try connection.first(
        """
        select id, name, host, backed_up, created_at, last_used_at
        from passkey
        where id = $1 and user_id = $2
        """, id.number, user.number
      ) { row in try Passkey(row) }
    }
  }

  public func passkey(withCredential credential: [UInt8]) throws(Refusal) -> StoredPasskey? {
    try run { connection in
      try connection.first(
        """
        select id, user_id, public_key, host, sign_count, backup_eligible
        from passkey
        where credential_id = $1
        """, credential
      ) { row in
        StoredPasskey(
          id: ID(try row.int(0)), user: ID(try row.int(1)), key: try row.bytes(2), host: try row.text(3),
          signCount: try row.int(4), isBackupEligible: try row.bool(5))
      }
    }
  }

  /// Ids and transports of the user's passkeys for a host.
  public func passkeyCredentials(
    of user: ID<User>, for host: String
  ) throws(Refusal) -> [(id: [UInt8], transports: [String])] {
    try run { connection in
      try connection.all(
        """
        select credential_id, transports
        from passkey
        where user_id = $1 and host = $2
        order by id
        """, user.number, host
      ) { row in (id: try row.bytes(0), transports: try row.text(1).split(separator: " ").map(String.init)) }
    }
  }

  public func passkeyCount(of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from passkey where user_id = $1", user.number) { try $0.int(0) } ?? 0
    }
  }
}

extension WriteTransaction {
  public func add(_ passkey: NewPasskey) throws(Refusal) -> ID<Passkey> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into passkey (id, user_id, credential_id, public_key, host, name, sign_count, backup_eligible, backed_up,
          transports, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        """, id, passkey.user.number, passkey.credentialID, passkey.key, passkey.host, passkey.name, passkey.signCount,
        passkey.isBackupEligible, passkey.isBackedUp, passkey.transports.joined(separator: " "), Int(now))
    }
    return ID(id)
  }

  public func rename(_ id: ID<Passkey>, of user: ID<User>, to name: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update passkey set name = $1 where id = $2 and user_id = $3", name, id.number, user.number)
    }
  }

  public func noteUse(of id: ID<Passkey>, signCount: Int, isBackedUp: Bool) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update passkey
        set sign_count = $1, backed_up = $2, last_used_at = $3
        where id = $4
        """, signCount, isBackedUp, Int(now), id.number)
    }
  }

  /// Notes that a sign-in with the passkey has opened a session.
  public func note(_ session: ID<Session>, of passkey: ID<Passkey>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "insert into passkey_session (session_id, passkey_id) values ($1, $2)", session.number, passkey.number)
    }
  }

  /// Ends the sessions that a passkey has opened, but one.
  public func endSessions(openedBy passkey: ID<Passkey>, except current: ID<Session>?) throws(Refusal) {
    try recordEnded { connection in
      try connection.all(
        """
        delete from session
        where id in (select session_id from passkey_session where passkey_id = $1) and id is distinct from $2
        returning id, digest, 1
        """, passkey.number, current?.number, read: EndedSession.init)
    }
  }

  /// Returns whether there was one.
  public func deletePasskey(_ id: ID<Passkey>, of user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute("delete from passkey where id = $1 and user_id = $2", id.number, user.number) == 1
    }
  }

  /// Returns whether there was one.
  public func deletePasskeys(of user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute("delete from passkey where user_id = $1", user.number) > 0
    }
  }

  /// Takes a challenge out of use. Returns false if it was used before. Digests of expired ones are deleted.
  public func useUp(challenge digest: [UInt8], until expiresAt: Int64) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute("delete from used_challenge where expires_at <= $1", Int(now))
      return try connection.execute(
        "insert into used_challenge (digest, expires_at) values ($1, $2) on conflict (digest) do nothing", digest,
        Int(expiresAt)) == 1
    }
  }
}

extension Passkey {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), name: try row.text(1), host: try row.text(2), isBackedUp: try row.bool(3),
      createdAt: Int64(try row.int(4)), lastUsedAt: try row.optionalInt(5).map { Int64($0) })
  }
}
