public import ParleyModel
import ParleySQLite

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
    var settings = SiteSettings(rows: Dictionary(rows.map { ($0.name, $0.value) }) { $1 })
    settings.emoji = try customEmoji()
    settings.groups = try userGroups()
    return settings
  }
}

extension WriteTransaction {
  /// Stores changed settings and logs an event.
  public func change(_ settings: SiteSettings, by actor: ID<User>) throws(Refusal) -> SiteSettings {
    let before = try self.settings()
    var settings = settings
    settings.revision = before.revision + 1
    let stored = before.rows
    for (name, value) in settings.rows where stored[name] != value {
      try run { connection in try connection.keepSetting(name, value) }
    }
    if settings.requireSecondFactor.isWider(than: before.requireSecondFactor) {
      try run { connection in try connection.keepSetting("second_factor_since", String(now)) }
    }
    if settings.icon != before.icon {
      if let icon = settings.icon { try markUsed(icon) }
      if let icon = before.icon { try release([icon]) }
    }
    try log(.settingsUpdated, in: .site, subject: 0, revision: settings.revision, actor: actor.number)
    return settings
  }
}

// MARK: Rows

// A row of `setting` for each field, under its name; other rows are the server's own.
extension SiteSettings {
  /// An absent or invalid value keeps the default.
  fileprivate init(rows: [String: String]) {
    self.init()
    var reader = SettingReader(rows: rows)
    visitFields(&reader)
    newcomers = rows["newcomers"].flatMap { Newcomers(stored: $0) } ?? newcomers
    revision = rows["revision"].flatMap { Int($0) } ?? revision
  }

  fileprivate var rows: [String: String] {
    var writer = SettingWriter(rows: ["newcomers": newcomers.stored, "revision": String(revision)])
    var settings = self
    settings.visitFields(&writer)
    return writer.rows
  }
}

private struct SettingReader: FieldVisitor {
  let rows: [String: String]

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<SiteSettings, Value> & Sendable,
    column: String?, in bounds: ClosedRange<Int>?
  ) {
    guard let text = rows[name] else { return }
    let number = Int(text) ?? ["true": 1, "false": 0][text]
    value = Value(.text(text)) ?? number.flatMap { Value(.int($0)) } ?? (text.isEmpty ? Value(.null) : nil) ?? value
  }
}

private struct SettingWriter: FieldVisitor {
  var rows: [String: String]

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<SiteSettings, Value> & Sendable,
    column: String?, in bounds: ClosedRange<Int>?
  ) {
    rows[name] = Self.text(of: value)
  }

  private static func text(of value: some FieldValue) -> String {
    if let flag = value as? Bool { return flag ? "true" : "false" }
    return switch value.stored {
    case .null: ""
    case .int(let number): String(number)
    case .text(let text): text
    }
  }
}

// Single rows of the table `setting`: the server's own values and the site's settings.

extension Connection {
  func setting(_ name: String) throws(SQLiteError) -> String? {
    try first(
      """
      select value
      from setting
      where name = $1
      """, name
    ) { row in try row.text(0) }
  }

  func keepSetting(_ name: String, _ value: String) throws(SQLiteError) {
    try execute(
      """
      insert into setting (name, value)
      values ($1, $2)
      on conflict (name) do update
      set value = excluded.value
      """, name, value)
  }

  /// The one that there is stays.
  func keepFirstSetting(_ name: String, _ value: String) throws(SQLiteError) {
    try execute(
      """
      insert into setting (name, value)
      values ($1, $2)
      on conflict (name) do nothing
      """, name, value)
  }
}
