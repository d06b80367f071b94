public import ParleyModel

extension WriteTransaction {
  /// Adds a notification to the inbox of each owner and admin.
  ///
  /// - Parameter alert: the name of the state, such as `disk`.
  public func alertStaff(_ alert: String, limit: Int) throws(Refusal) {
    let staff = try run { connection in
      try connection.all(
        """
        select id
        from account
        where role in ('owner', 'admin') and state = 'active' and imported = 0
        order by id
        limit $1
        """, limit
      ) { row in ID<User>(try row.int(0)) }
    }
    for user in staff { try addNotification(.alert, of: user, alert: alert, by: nil) }
  }
}
