// Addresses for discovery, stored as HMAC under a key of the site: the digests are useless without the key.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Nil until the first address is set.
  public func addressKey() throws(Refusal) -> String? {
    try run { connection in try connection.setting("address_key") }
  }

  public func addresses(of user: ID<User>) throws(Refusal) -> Set<[UInt8]> {
    Set(
      try run { connection in
        try connection.all(
          """
          select digest
          from address
          where user_id = $1
          """, user.number
        ) { row in try row.bytes(0) }
      })
  }

  /// Active, discoverable users with this address.
  public func discoverable(at digest: [UInt8], limit: Int) throws(Refusal) -> [User] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from address d
          join account a on a.id = d.user_id
          where d.digest = $1 and a.discoverable = 1 and a.state = 'active'
          order by d.user_id
          limit $2
          """), digest, limit
      ) { row in try User(row) }
    }
  }
}

extension WriteTransaction {
  /// Stores the key, unless one exists.
  public func storeAddressKey(_ key: String) throws(Refusal) {
    try run { connection in try connection.keepFirstSetting("address_key", key) }
  }

  /// Replaces a user's addresses.
  public func setAddresses(_ digests: Set<[UInt8]>, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from address where user_id = $1", user.number)
      for digest in digests {
        try connection.execute(
          """
          insert into address (digest, user_id)
          values ($1, $2)
          """, digest, user.number)
      }
    }
  }
}
