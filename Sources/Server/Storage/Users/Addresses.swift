// Addresses to be found by: only as HMAC under a key of this place, so that what is stored says nothing to who has no key.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Nil until the first address was given.
  public func addressKey() throws(Refusal) -> String? {
    try run { connection in try connection.setting("address_key") }
  }

  public func addresses(of account: ID<Account>) throws(Refusal) -> Set<[UInt8]> {
    Set(
      try run { connection in
        try connection.all(
          """
          select digest
          from address
          where user_id = $1
          """, account.number
        ) { row in try row.bytes(0) }
      })
  }

  /// Who gave this address, is here, and said that they may be found.
  public func discoverable(at digest: [UInt8], limit: Int) throws(Refusal) -> [Person] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(Person.columns)
          from address d
          join account a on a.id = d.user_id
          where d.digest = $1 and a.discoverable = 1 and a.state = 'active'
          order by d.user_id
          limit $2
          """), digest, limit
      ) { row in try Person(row) }
    }
  }
}

extension WriteTransaction {
  /// The key from now on; the one that there is stays.
  public func keepAddressKey(_ key: String) throws(Refusal) {
    try run { connection in try connection.keepFirstSetting("address_key", key) }
  }

  /// These in the place of those that there were.
  public func setAddresses(_ digests: Set<[UInt8]>, of account: ID<Account>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from address where user_id = $1", account.number)
      for digest in digests {
        try connection.execute(
          """
          insert into address (digest, user_id)
          values ($1, $2)
          """, digest, account.number)
      }
    }
  }
}
