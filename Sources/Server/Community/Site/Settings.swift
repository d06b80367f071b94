import ParleyCrypto
public import ParleyModel
import Storage

/// Public facts about the site for a client's first request.
public struct SiteSummary: Sendable {
  public let settings: SiteSettings
  public let epoch: String
  public let start: String
  /// Whether the site has an owner.
  public let isSetUp: Bool
  /// The public half of the key that signs checkpoints, in hex.
  public let key: String
}

extension CommunityView {
  public func getSettings() throws(Refusal) -> SiteSettings {
    try read { tx throws(Refusal) in try tx.settings() }
  }

  public func getServer() throws(Refusal) -> SiteSummary {
    let (epoch, start) = (community.store.epoch, community.store.starts.current)
    let key = Hex.text(community.store.siteKey.point)
    return try read { tx throws(Refusal) in
      SiteSummary(settings: try tx.settings(), epoch: epoch, start: start, isSetUp: try tx.hasOwner(), key: key)
    }
  }
}

extension Community {
  public func updateSettings(_ change: SiteSettingsChange, by caller: Caller) async throws(Refusal) -> SiteSettings {
    let actor = try caller.requireUser(.admin)
    let bounds = bounds
    let change = try change.checked(bounds)
    return try await store.write { tx throws(Refusal) in
      if change.isPause {
        try tx.requireModerator(tx.reloadCaller(caller), in: nil)
      } else {
        try tx.requireStaff(caller)
      }
      let before = try tx.settings()
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.applied(to: before)
      guard after != before else { return before }
      try tx.checkPauses(from: before, to: after)
      if after.requireSecondFactor != before.requireSecondFactor { try tx.requireProof(of: caller) }
      if after.appRegistration != before.appRegistration { try tx.requireAppOwner(caller) }
      if let icon = after.icon, icon != before.icon { try tx.checkPicture(icon, "icon_file", by: caller, bounds) }
      if let forum = after.arrivalForum, forum != before.arrivalForum {
        guard try tx.forum(forum) != nil else { throw .invalid("arrival_forum", .unknown) }
      }
      let changes =
        after.changes(since: before, texts: ["name", "contact_url", "privacy_url"])
        + after.newcomers.changes(since: before.newcomers, prefix: "newcomers.")
      try tx.audit(.settingsChanged, by: actor, subject: 0, changes: changes)
      let changed = try tx.change(after, by: actor)
      try tx.shortenSessions()
      return changed
    }
  }
}

extension WriteTransaction {
  /// A pause that was forgotten ends by itself.
  fileprivate func checkPauses(from before: SiteSettings, to after: SiteSettings) throws(Refusal) {
    for (name, path) in [
      ("sign_ups_paused_until", \SiteSettings.signUpsPausedUntil), ("newcomers_paused_until", \.newcomersPausedUntil),
    ] {
      guard let until = after[keyPath: path], until != before[keyPath: path] else { continue }
      guard until <= now + SiteSettings.maxPause else { throw .invalid(name, .invalid) }
    }
  }
}

extension SiteSettingsChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> SiteSettingsChange {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in
      try checked.fields.revise(\.name) { name throws(Refusal) in
        try Texts.line(name, "name", scalars: bounds.siteNameScalars)
      }
    }
    check { () throws(Refusal) in
      if let welcome = fields[\.welcome] { _ = try Texts.block(welcome, "welcome", scalars: bounds.siteTextScalars) }
    }
    check { () throws(Refusal) in
      if let rules = fields[\.rules] { _ = try Texts.block(rules, "rules", scalars: bounds.siteTextScalars) }
    }
    check { () throws(Refusal) in
      try checked.fields.revise(\.contactURL) { url throws(Refusal) in
        try Texts.contactAddress(url, "contact_url", bounds)
      }
    }
    check { () throws(Refusal) in
      try checked.fields.revise(\.privacyURL) { url throws(Refusal) in try Texts.webAddress(url, "privacy_url", bounds)
      }
    }
    try check.finish()
    return checked
  }
}
