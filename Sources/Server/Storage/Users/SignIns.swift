public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The sign-ins and failed attempts of a user, newest first.
  public func signIns(of user: ID<User>, _ slice: ListSlice) throws(Refusal) -> [SignIn] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select id, created_at, method, result, device, address, new_device, session_id
          from sign_in
          where user_id = $1 and id \(page.comparison) $2 and created_at > $3
          order by id \(page.order)
          limit $4
          """), user.number, page.number(), Int(now - SignIn.retention), slice.limit
      ) { row in
        try SignIn(row)
      }
    }
  }

  /// The sign-in that opened a session; nil if it is no longer kept.
  public func signIn(to session: ID<Session>, of user: ID<User>) throws(Refusal) -> SignIn? {
    try run { connection in
      try connection.first(
        """
        select id, created_at, method, result, device, address, new_device, session_id
        from sign_in
        where user_id = $1 and session_id = $2
        order by id desc
        limit 1
        """, user.number, session.number
      ) { row in try SignIn(row) }
    }
  }

  /// Whether the user was ever seen: sessions and sign-ins expire. The first device of all is not a new one.
  func wasSeen(_ user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select last_seen_at is not null from account where id = $1", user.number) { row in
        try row.int(0) == 1
      } ?? false
    }
  }

  /// Whether the user has signed in with this device in this network since the devices were last forgotten.
  func hasSignedIn(_ user: ID<User>, on device: String, from address: String?) throws(Refusal) -> Bool {
    let first = try firstDeviceID(of: user)
    return try run { connection in
      try connection.first(
        """
        select exists (
          select 1
          from sign_in
          where user_id = $1 and id >= $2 and result = 'signed_in' and device = $3 and address is $4
        )
        """, user.number, first, device, address
      ) { row in try row.int(0) == 1 } ?? false
    }
  }

  /// Whether the user signs in from a device that they have not used before. To be asked before the session is added.
  public func isNewDevice(_ device: String, from address: String?, of user: ID<User>) throws(Refusal) -> Bool {
    guard try wasSeen(user) else { return false }
    return try !hasSignedIn(user, on: device, from: address)
  }
}

extension WriteTransaction {
  /// Adds an entry, and removes the oldest beyond `SignIn.maxKept` of its kind. Wrong passwords, which everybody can give,
  /// displace no sign-ins and no attempts with the right password.
  public func addSignIn(
    _ method: SignIn.Method, _ result: SignIn.Outcome, of user: ID<User>, on device: String, from address: String?,
    isNewDevice: Bool = false, session: ID<Session>? = nil
  ) throws(Refusal) {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into sign_in (id, user_id, created_at, method, result, device, address, new_device, session_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """, id, user.number, Int(now), method.rawValue, result.rawValue, device, address, isNewDevice, session?.number)
      try connection.execute(
        """
        delete from sign_in
        where user_id = $1 and (result = 'signed_in') = $2 and (result = 'wrong_password') = $3 and id not in (
          select id
          from sign_in
          where user_id = $1 and (result = 'signed_in') = $2 and (result = 'wrong_password') = $3
          order by id desc
          limit $4
        )
        """, user.number, result == .signedIn, result == .wrongPassword, SignIn.maxKept)
    }
  }

  /// Returns whether more remain.
  func removeOldSignIns(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from sign_in
        where id in (
          select id
          from sign_in
          where created_at <= $1
          order by created_at, id
          limit $2
        )
        """, Int(now - SignIn.retention), limit) == limit
    }
  }
}

extension SignIn {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), createdAt: Int64(try row.int(1)), method: try row.word(2), result: try row.word(3),
      device: try row.text(4), address: try row.optionalText(5), isNewDevice: try row.int(6) == 1,
      session: try row.optionalInt(7).map { ID($0) })
  }
}
