import ParleySQLite

extension Check {
  static let audit = Check(
    "audit", "nobody can change what was written in the audit, and each entry says who did something that is known"
  ) { examination in
    examination.count(try examination.number("select count(*) from audit"), "entries")
    for name in try AuditGuards.missing(in: examination.connection) {
      examination.fault("the trigger \(name) is not there")
    }
    try examination.expectNone(
      """
      select e.id, e.actor_id
      from audit e
      left join account a on a.id = e.actor_id
      where a.id is null
      order by e.id
      """
    ) { row in "entry \(try row.int(0)) was made by account \(try row.int(1)), which is not there" }
  }

  static let sanctions = Check(
    "sanctions", "of each kind one sanction at most is in force for a person and a place, and who is banned is kept out"
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
    ) { row in "account \(try row.int(0)) has more than one \(try row.text(1)) in force" }
    try examination.expectNone(
      """
      select s.id, s.user_id
      from sanction s
      join account a on a.id = s.user_id
      where s.kind = 'ban' and s.lifted_at is null and a.state not in ('disabled', 'left', 'erased')
      order by s.id
      """
    ) { row in "account \(try row.int(1)) is banned by \(try row.int(0)), and can come in" }
    try examination.expectNone(
      """
      select s.id, s.forum_id
      from sanction s
      left join forum f on f.id = s.forum_id
      where s.forum_id is not null and f.id is null
      order by s.id
      """
    ) { row in "sanction \(try row.int(0)) is for forum \(try row.int(1)), which is not there" }
  }
}
