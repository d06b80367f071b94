public import ParleyModel
import Storage

/// What a client wants to know of a place before anything else.
public struct PlaceFacts: Sendable {
  public let settings: PlaceSettings
  public let epoch: String
  /// Whether somebody looks after it.
  public let isSetUp: Bool
}

extension CommunityView {
  public func settings() throws(Refusal) -> PlaceSettings {
    try read { tx throws(Refusal) in try tx.settings() }
  }

  public func facts() throws(Refusal) -> PlaceFacts {
    let epoch = community.store.epoch
    return try read { tx throws(Refusal) in
      PlaceFacts(settings: try tx.settings(), epoch: epoch, isSetUp: try tx.hasOwner())
    }
  }
}

extension Community {
  public func change(_ change: PlaceSettingsChange, by caller: Caller) async throws(Refusal) -> PlaceSettings {
    let actor = try caller.person(for: .admin)
    var change = change
    if let name = change.name { change.name = try Texts.line(name, "name", scalars: bounds.placeNameScalars) }
    if let welcome = change.welcome { _ = try Texts.block(welcome, "welcome", scalars: bounds.placeTextScalars) }
    if let rules = change.rules { _ = try Texts.block(rules, "rules", scalars: bounds.placeTextScalars) }
    let bounds = bounds
    return try await store.write { [change] tx throws(Refusal) in
      guard try tx.renewed(caller).role?.isStaff == true else { throw .forbidden }
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
