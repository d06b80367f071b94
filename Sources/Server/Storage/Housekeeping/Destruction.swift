// What was destroyed is counted, in the transaction that destroys it, and so is how far its bytes have left the files: a
// restart loses none of it, and a round is due exactly when the two differ.

import ParleyModel
import ParleySQLite

struct Destruction: Hashable, Sendable {
  /// How often something that was said has been destroyed.
  let count: Int
  /// How many of these a round of `Forgetting` has taken out of the files, and how many are in none since the database
  /// was written anew.
  let forgotten: Int
  let rewritten: Int
  /// When it was last begun to be written anew, in milliseconds since 1970.
  let rewriteBegunAt: Int64
}

extension ReadTransaction {
  func destruction() throws(Refusal) -> Destruction {
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
    return Destruction(
      count: numbers["destroyed"] ?? 0, forgotten: numbers["forgotten"] ?? 0, rewritten: numbers["rewritten"] ?? 0,
      rewriteBegunAt: Int64(numbers["rewrite_begun_at"] ?? 0))
  }
}

extension WriteTransaction {
  /// For every verb after which something that was said is nowhere any longer: its bytes have to leave the files.
  func noteDestruction() throws(Refusal) {
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

  /// What a round that began after `count` destructions has taken out of the files.
  func noteForgotten(_ count: Int, rewritten: Bool) throws(Refusal) {
    try note("forgotten", count)
    if rewritten { try note("rewritten", count) }
  }

  func noteRewriteBegun() throws(Refusal) { try note("rewrite_begun_at", Int(now)) }

  private func note(_ name: String, _ number: Int) throws(Refusal) {
    try run { connection in try connection.keepSetting(name, String(number)) }
  }
}
