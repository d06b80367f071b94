public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The settings of a user; the defaults of the user's role if there are none.
  public func notificationSettings(of user: ID<User>) throws(Refusal) -> NotificationSettings {
    let stored = try run { connection in
      try connection.first(
        SQL("select \(NotificationSettings.columns()) from notification_settings where user_id = $1"), user.number
      ) { row in
        var settings = NotificationSettings()
        try settings.readFields(row, from: 0)
        return settings
      }
    }
    if let stored { return stored }
    var settings = NotificationSettings()
    settings.hasWeeklyDigest = try run { connection in
      try connection.first("select role <> 'guest' from account where id = $1", user.number) { try $0.bool(0) } ?? true
    }
    return settings
  }
}

extension WriteTransaction {
  /// Replaces the settings of a user.
  public func store(_ settings: NotificationSettings, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from notification_settings where user_id = $1", user.number)
    }
    try insert(into: "notification_settings", [("user_id", .int(user.number))] + settings.columns(since: nil))
  }
}
