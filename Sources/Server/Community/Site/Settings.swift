public import ParleyModel
import Storage

/// Public facts about the site for a client's first request.
public struct SiteSummary: Sendable {
  public let settings: SiteSettings
  public let epoch: String
  public let start: String
  /// Whether the site has an owner.
  public let isSetUp: Bool
}

extension CommunityView {
  public func getSettings() throws(Refusal) -> SiteSettings {
    try read { tx throws(Refusal) in try tx.settings() }
  }

  public func getServer() throws(Refusal) -> SiteSummary {
    let (epoch, start) = (community.store.epoch, community.store.starts.current)
    return try read { tx throws(Refusal) in
      SiteSummary(settings: try tx.settings(), epoch: epoch, start: start, isSetUp: try tx.hasOwner())
    }
  }
}

extension Community {
  public func updateSettings(_ change: SiteSettingsChange, by caller: Caller) async throws(Refusal) -> SiteSettings {
    let actor = try caller.requireUser(.admin)
    let bounds = bounds
    var change = change
    try change.fields.revise(\.name) { name throws(Refusal) in
      try Texts.line(name, "name", scalars: bounds.siteNameScalars)
    }
    if let welcome = change.fields[\.welcome] {
      _ = try Texts.block(welcome, "welcome", scalars: bounds.siteTextScalars)
    }
    if let rules = change.fields[\.rules] { _ = try Texts.block(rules, "rules", scalars: bounds.siteTextScalars) }
    return try await store.write { [change] tx throws(Refusal) in
      guard try tx.reloadCaller(caller).role?.isStaff == true else { throw .forbidden }
      let before = try tx.settings()
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.applied(to: before)
      guard after != before else { return before }
      if let icon = after.icon, icon != before.icon { try tx.checkPicture(icon, "icon_file", of: actor, bounds) }
      try tx.audit(.settingsChanged, by: actor, subject: 0)
      return try tx.change(after, by: actor)
    }
  }
}
