import ParleySQLite

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
