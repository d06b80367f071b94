public import ParleyModel
import ParleySQLite

/// The rows of `setting` with the site's settings. Other rows are the server's own.
private enum SettingName: String, CaseIterable {
  case name, hue, welcome, rules, registration, discovery, newcomers
  case mayInvite = "may_invite"
  case mayCreateForums = "may_create_forums"
  case cutsMetadata = "strip_metadata"
  case linkPreviews = "link_previews"
  case icon = "icon_file"
  case mayPublish = "may_publish"
  case revision
}

extension ReadTransaction {
  public func settings() throws(Refusal) -> SiteSettings {
    let rows = try run { connection in
      try connection.all(
        """
        select name, value
        from setting
        """
      ) { row in (name: try row.text(0), value: try row.text(1)) }
    }
    var settings = SiteSettings()
    for row in rows {
      guard let name = SettingName(rawValue: row.name) else { continue }
      settings.take(name, row.value)
    }
    return settings
  }
}

extension WriteTransaction {
  /// Stores changed settings and logs an event.
  public func change(_ settings: SiteSettings, by actor: ID<User>) throws(Refusal) -> SiteSettings {
    let before = try self.settings()
    var settings = settings
    settings.revision = before.revision + 1
    for name in SettingName.allCases where settings.text(name) != before.text(name) {
      let value = settings.text(name)
      try run { connection in try connection.keepSetting(name.rawValue, value) }
    }
    if settings.icon != before.icon {
      if let icon = settings.icon { try markUsed(icon) }
      if let icon = before.icon { try letGo(of: [icon]) }
    }
    try log(.settingsUpdated, in: .site, subject: 0, revision: settings.revision, actor: actor.number)
    return settings
  }
}

extension SiteSettings {
  /// Ignores an invalid value.
  fileprivate mutating func take(_ name: SettingName, _ text: String) {
    switch name {
    case .name: self.name = text
    case .hue: hue = Int(text) ?? hue
    case .welcome: welcome = text
    case .rules: rules = text
    case .registration: registration = Registration(rawValue: text) ?? registration
    case .discovery: hasDiscovery = text == "true"
    case .newcomers: newcomers = Newcomers(stored: text) ?? newcomers
    case .cutsMetadata: cutsMetadata = text == "true"
    case .linkPreviews: linkPreviews = text == "true"
    case .icon: icon = ID(text)
    case .mayInvite: mayInvite = Circle(rawValue: text) ?? mayInvite
    case .mayCreateForums: mayCreateForums = Circle(rawValue: text) ?? mayCreateForums
    case .mayPublish: mayPublish = Circle(rawValue: text) ?? mayPublish
    case .revision: revision = Int(text) ?? revision
    }
  }

  fileprivate func text(_ name: SettingName) -> String {
    switch name {
    case .name: self.name
    case .hue: String(hue)
    case .welcome: welcome
    case .rules: rules
    case .registration: registration.rawValue
    case .discovery: hasDiscovery ? "true" : "false"
    case .newcomers: newcomers.stored
    case .cutsMetadata: cutsMetadata ? "true" : "false"
    case .linkPreviews: linkPreviews ? "true" : "false"
    case .icon: icon?.description ?? ""
    case .mayInvite: mayInvite.rawValue
    case .mayCreateForums: mayCreateForums.rawValue
    case .mayPublish: mayPublish.rawValue
    case .revision: String(revision)
    }
  }
}
