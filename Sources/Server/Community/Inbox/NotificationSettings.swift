public import ParleyModel
import Storage

extension Community {
  /// Changes the settings of the caller, and tells the caller's devices.
  public func updateNotificationSettings(
    _ change: Patch<NotificationSettings>, by caller: Caller
  ) async throws(Refusal) -> NotificationSettings {
    let user = try caller.requireUser(.write)
    return try await store.write { [timeZones] tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      try change.check(at: tx.now, in: timeZones)
      let before = try tx.notificationSettings(of: user)
      let after = change.applied(to: before)
      guard after != before else { return before }
      try tx.store(after, of: user)
      if after.digestZone != before.digestZone { try tx.setDigestTime(nil, of: user) }
      try tx.logPrivateChange(of: user, by: user)
      return after
    }
  }
}

extension CommunityView {
  public func getNotificationSettings(for caller: Caller) throws(Refusal) -> NotificationSettings {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in try tx.notificationSettings(of: user) }
  }
}

extension Patch<NotificationSettings> {
  fileprivate func check(at now: Int64, in zones: TimeZones) throws(Refusal) {
    var check = FieldChecks()
    check { () throws(Refusal) in
      guard let until = self[\.snoozedUntil] ?? nil else { return }
      guard until > now, until - now <= NotificationSettings.maxSnooze else {
        throw .invalid("snoozed_until", .invalid)
      }
    }
    if let zone = self[\.timeZone] ?? nil {
      check { () throws(Refusal) in
        guard zones.rules(of: zone) != nil else { throw .invalid("time_zone", .unknown) }
      }
    }
    if let hours = self[\.quietHours] ?? nil {
      check { () throws(Refusal) in
        // They would last the whole day, or not at all.
        guard hours.from != hours.to else { throw .invalid("quiet_hours.to", .invalid) }
      }
      check { () throws(Refusal) in
        guard !hours.days.isEmpty else { throw .invalid("quiet_hours.days", .invalid) }
      }
      check { () throws(Refusal) in
        guard zones.rules(of: hours.timeZone) != nil else { throw .invalid("quiet_hours.time_zone", .unknown) }
      }
    }
    try check.finish()
  }
}
