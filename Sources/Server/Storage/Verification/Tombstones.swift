import ParleySQLite

extension Check {
  static let tombstones = Check(
    "tombstones", "a deleted message has no content left, and stored revisions are older than the current one"
  ) { examination in
    examination.count(
      try examination.number("select count(*) from message where deletion is not null"), "tombstones")
    try examination.expectNone(
      """
      select m.id, h.what
      from message m
      join (
        select message_id, 'an earlier text' as what from revision
        union all select message_id, 'an attachment' from attachment
        union all select message_id, 'an annotation' from annotation
        union all select message_id, 'a hashtag' from hashtag
        union all select message_id, 'a mention' from mention
        union all select message_id, 'a link' from hyperlink
        union all select message_id, 'a location' from location
      ) h on h.message_id = m.id
      where m.deletion is not null
      order by m.id
      """
    ) { row in "message \(try row.int(0)) is deleted, but \(try row.text(1)) remains" }
    // A job removes the notifications of many recipients, or moves them to the copy of the message.
    try examination.expectNone(
      """
      select i.id, m.id
      from notification i
      join message m on m.id = i.message_id
      where m.deletion is not null and not exists (
        select 1
        from job j
        where j.kind in ('notification-removal', 'topic.rows') and j.subject = m.id and j.finished_at is null
      )
      order by i.id
      """
    ) { row in "message \(try row.int(1)) is deleted, but notification \(try row.int(0)) remains" }
    try examination.expectNone(
      """
      select r.message_id, r.revision, m.revision
      from revision r
      join message m on m.id = r.message_id
      where r.revision not between 1 and m.revision - 1
      """
    ) { row in
      "message \(try row.int(0)) has revision \(try row.int(2)), but stores a text of revision \(try row.int(1))"
    }
  }

  static let seals = Check(
    "seals", "each sealed message was removed by a moderator"
  ) { examination in
    examination.count(try examination.number("select count(*) from sealed"), "sealed messages")
    try examination.expectNone(
      """
      select s.message_id
      from sealed s
      join message m on m.id = s.message_id
      where m.deletion is not 'moderator'
      order by s.message_id
      """
    ) { row in "message \(try row.int(0)) is sealed, but was not removed by a moderator" }
  }
}
