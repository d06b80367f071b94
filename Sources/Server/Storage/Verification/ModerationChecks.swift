import ParleySQLite

extension Check {
  static let audit = Check(
    "audit", "audit entries are immutable, and each names an existing actor"
  ) { examination in
    examination.count(try examination.number("select count(*) from audit"), "entries")
    for name in try SchemaTriggers.missing(of: SchemaTriggers.ofAudit, in: examination.connection) {
      examination.fault("the trigger \(name) is missing")
    }
    try examination.expectNone(
      """
      select e.id, e.actor_id
      from audit e
      left join account a on a.id = e.actor_id
      where a.id is null
      order by e.id
      """
    ) { row in "audit entry \(try row.int(0)) names missing user \(try row.int(1))" }
  }

  static let sanctions = Check(
    "sanctions", "a user has at most one active sanction of each kind per forum, and banned users are disabled"
  ) { examination in
    examination.count(try examination.number("select count(*) from sanction"), "sanctions")
    try examination.expectNone(
      """
      select user_id, kind
      from sanction
      where lifted_at is null and kind <> 'warning'
      group by user_id, kind, forum_id
      having count(*) > 1
      order by user_id
      """
    ) { row in "user \(try row.int(0)) has more than one active \(try row.text(1))" }
    try examination.expectNone(
      """
      select s.id, s.user_id
      from sanction s
      join account a on a.id = s.user_id
      where s.kind = 'ban' and s.lifted_at is null and a.state not in ('disabled', 'left', 'erased')
      order by s.id
      """
    ) { row in "user \(try row.int(1)) is banned by sanction \(try row.int(0)), but not disabled" }
    try examination.expectNone(
      """
      select s.id, s.forum_id
      from sanction s
      left join forum f on f.id = s.forum_id
      where s.forum_id is not null and f.id is null
      order by s.id
      """
    ) { row in "sanction \(try row.int(0)) names missing forum \(try row.int(1))" }
  }
}
