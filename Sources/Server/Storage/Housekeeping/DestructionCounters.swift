// Counters of destroyed content, changed in the transaction that destroys it, and of content purged from the files.
// They survive a restart, and a round is due exactly when the two differ.

import ParleyModel
import ParleySQLite

struct DestructionCounters: Hashable, Sendable {
  /// Number of destructions of content.
  let count: Int
  /// Number of destructions purged by a round of `PurgeRound`, and number purged by the last rewrite of the database.
  let purged: Int
  let rewritten: Int
  /// Start of the last rewrite, in milliseconds since 1970.
  let rewriteStartedAt: Int64
}

extension ReadTransaction {
  func destruction() throws(Refusal) -> DestructionCounters {
    let numbers = try run { connection in
      Dictionary(
        uniqueKeysWithValues: try connection.all(
          """
          select name, cast(value as integer)
          from setting
          where name in ('destroyed', 'forgotten', 'rewritten', 'rewrite_begun_at')
          """
        ) { row in (try row.text(0), try row.int(1)) })
    }
    return DestructionCounters(
      count: numbers["destroyed"] ?? 0, purged: numbers["forgotten"] ?? 0, rewritten: numbers["rewritten"] ?? 0,
      rewriteStartedAt: Int64(numbers["rewrite_begun_at"] ?? 0))
  }
}

extension WriteTransaction {
  /// Required after every operation that destroys content: its bytes have to be purged from the files.
  func recordDestruction() throws(Refusal) {
    guard !hasNotedDestruction else { return }
    hasNotedDestruction = true
    try run { connection in
      try connection.execute(
        """
        insert into setting (name, value)
        values ('destroyed', '1')
        on conflict (name) do update
        set value = cast(cast(setting.value as integer) + 1 as text)
        """)
    }
  }

  /// Records the result of a round that started after `count` destructions.
  func recordPurged(_ count: Int, rewritten: Bool) throws(Refusal) {
    try note("forgotten", count)
    if rewritten { try note("rewritten", count) }
  }

  func recordRewriteStart() throws(Refusal) { try note("rewrite_begun_at", Int(now)) }

  private func note(_ name: String, _ number: Int) throws(Refusal) {
    try run { connection in try connection.keepSetting(name, String(number)) }
  }
}
