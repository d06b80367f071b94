import ParleySQLite

extension Check {
  static let sends = Check(
    "sends", "each message with a client_id is the one that a retried request finds, and vice versa"
  ) { examination in
    examination.count(try examination.number("select count(*) from idempotency where kind = 'message'"), "sends")
    try examination.expectNone(
      """
      select m.id
      from message m
      left join idempotency i on i.author_id = m.author_id and i.kind = 'message' and i.client_id = m.client_id
      where m.client_id is not null and i.subject is not m.id
      order by m.id
      """
    ) { row in "message \(try row.int(0)) is not what a retried request would find" }
    try examination.expectNone(
      """
      select i.author_id, i.client_id, i.subject
      from idempotency i
      left join message m on m.id = i.subject
      where i.kind = 'message'
      and (m.author_id is not i.author_id or m.client_id is not null and m.client_id is not i.client_id)
      """
    ) { row in
      "the request \(try row.text(1)) of user \(try row.int(0)) names message \(try row.int(2)) of another request"
    }
  }

  static let references = Check(
    "references", "references without a foreign key name existing rows, and derived rows match their messages"
  ) { examination in
    try examination.expectNone(
      """
      select f.id, f.room_id
      from forum f
      left join conversation c on c.id = f.room_id and c.kind = 'room'
      where c.forum_id is not f.id
      """
    ) { row in "forum \(try row.int(0)) names room \(try row.int(1)) of another forum" }
    try examination.expectNone(
      """
      select source, kind, key, subject
      from imported i
      where kind = 'user' and not exists (select 1 from account where id = i.subject)
      or kind = 'forum' and not exists (select 1 from forum where id = i.subject)
      or kind = 'conversation' and not exists (select 1 from conversation where id = i.subject)
      or kind = 'message' and not exists (select 1 from message where id = i.subject)
      """
    ) { row in
      "the imported \(try row.text(1)) \(try row.text(2)) of \(try row.text(0)) names missing row \(try row.int(3))"
    }
    try examination.expectNone(
      """
      select kind, uuid, subject
      from supplied_uuid s
      where kind = 'forum' and not exists (select 1 from forum where id = s.subject)
      or kind = 'message' and not exists (select 1 from message where id = s.subject)
      """
    ) { row in "the \(try row.text(0)) with the UUID \(try row.text(1)) is missing row \(try row.int(2))" }
    try examination.expectNone(
      """
      select uuid, forum_id
      from mormessages_subscription s
      where not exists (select 1 from forum where id = s.forum_id)
      """
    ) { row in "subscription \(try row.text(0)) names missing forum \(try row.int(1))" }
    try examination.expectNone(
      """
      select m.id, m.reply_to
      from message m
      where m.reply_to is not null
      and not exists (select 1 from message o where o.id = m.reply_to)
      """
    ) { row in "message \(try row.int(0)) replies to missing message \(try row.int(1))" }
    try examination.expectNone(
      """
      select m.id, m.repost_of
      from message m
      where m.repost_of is not null
      and not exists (select 1 from message o where o.id = m.repost_of and o.repost_of is null)
      """
    ) { row in "message \(try row.int(0)) reposts message \(try row.int(1)), which is missing or a repost" }
    try examination.expectNone(
      """
      select m.id
      from message m
      where m.moved_to is not null
      and not exists (select 1 from message o where o.id = m.moved_to and o.moved_from = m.id)
      """
    ) { row in "message \(try row.int(0)) was moved, but is not at its target" }
    try examination.expectNone(
      """
      select l.what, l.message_id, l.conversation_id
      from (
        select 'an annotation' as what, message_id, conversation_id from annotation
        union all select 'a hashtag', message_id, conversation_id from hashtag
        union all select 'a location', message_id, conversation_id from location
      ) l
      join message m on m.id = l.message_id
      where m.conversation_id <> l.conversation_id
      """
    ) { row in "\(try row.text(0)) of message \(try row.int(1)) names conversation \(try row.int(2))" }
    try examination.expectNone(
      """
      select message_id, user_id
      from mention
      where not exists (select 1 from account a where a.id = user_id)
      """
    ) { row in "message \(try row.int(0)) mentions missing user \(try row.int(1))" }
    try examination.expectNone(
      """
      select m.user_id, m.group_id
      from user_group_member m
      where not exists (select 1 from user_group g where g.id = m.group_id)
      and not exists (
        select 1
        from job j
        where j.kind = 'group.removal' and j.subject = m.group_id and j.finished_at is null
      )
      order by m.user_id, m.group_id
      """
    ) { row in "user \(try row.int(0)) is a member of missing group \(try row.int(1))" }
    try examination.expectNone(
      """
      select f.forum_id, f.group_id
      from forum_group f
      where f.access <> 'ended' and not exists (select 1 from user_group g where g.id = f.group_id)
      order by f.forum_id, f.group_id
      """
    ) { row in "missing group \(try row.int(1)) has access to forum \(try row.int(0))" }
    try examination.expectNone(
      """
      select w.id
      from webhook w
      join account a on a.id = w.bot_id
      where w.digest is not null and (
        a.owner_id is null
        or w.token_id is not null and not exists (select 1 from session s where s.id = w.token_id)
      )
      order by w.id
      """
    ) { row in "webhook \(try row.int(0)) has a secret, but no owner, or not the token that made it" }
    for (table, name) in [("webhook_endpoint", "webhook endpoint"), ("command", "slash command")] {
      try examination.expectNone(
        SQL(
          """
          select p.id
          from \(table) p
          join account a on a.id = p.owner_id
          where p.enabled = 1 and (
            a.state <> 'active' or a.role not in ('owner', 'admin')
            or p.token_id is not null and not exists (select 1 from session s where s.id = p.token_id)
          )
          order by p.id
          """)
      ) { row in "\(name) \(try row.int(0)) is enabled without staff as its owner, or the token that made it" }
    }
    try examination.expectNone(
      """
      select s.id
      from session s
      join app_grant g on g.id = s.grant_id
      where s.user_id <> g.user_id or s.kind <> 'token' or s.expires_at is null
      order by s.id
      """
    ) { row in "session \(try row.int(0)) is no access token of its grant" }
    try examination.expectNone(
      """
      select g.id
      from app_grant g
      join account a on a.id = g.user_id
      where a.state in ('left', 'erased')
      order by g.id
      """
    ) { row in "grant \(try row.int(0)) is of a user that has left" }
    try examination.expectNone(
      """
      select s.session_id
      from issuer_session s
      join identity a on a.id = s.identity_id
      join session o on o.id = s.session_id
      where o.user_id <> a.user_id or o.kind <> 'session'
      order by s.session_id
      """
    ) { row in "session \(try row.int(0)) was opened by a linked account of another user" }
    try examination.expectNone(
      """
      select s.session_id
      from passkey_session s
      join passkey p on p.id = s.passkey_id
      join session o on o.id = s.session_id
      where o.user_id <> p.user_id or o.kind <> 'session'
      order by s.session_id
      """
    ) { row in "session \(try row.int(0)) was opened by a passkey of another user" }
    try examination.expectNone(
      """
      select r.id
      from command_reply r
      where r.message_id is not null and not exists (select 1 from message m where m.id = r.message_id)
      order by r.id
      """
    ) { row in "reply \(try row.int(0)) to a slash command names a missing message" }
    try examination.expectNone(
      """
      select a.message_id, a.type, a.user_id
      from action a
      join message m on m.id = a.message_id
      where a.message_at <> m.created_at
      """
    ) { row in
      "the action \(try row.text(1)) of user \(try row.int(2)) has another time than message \(try row.int(0))"
    }
    try examination.expectNone(
      """
      select p.message_id
      from poll p
      join message m on m.id = p.message_id
      where m.has_poll is not 1
        or p.voters <> (select count(distinct user_id) from vote where message_id = p.message_id)
        or exists (
          select 1
          from poll_option o
          where o.message_id = p.message_id and o.votes <> (
            select count(*)
            from vote v
            where v.message_id = o.message_id and v.position = o.position
          )
        )
      order by p.message_id
      """
    ) { row in "the poll of message \(try row.int(0)) counts other votes than it has" }
    for name in try SchemaTriggers.missing(of: SchemaTriggers.ofTags, in: examination.connection) {
      examination.fault("the trigger \(name) is missing")
    }
    try examination.expectNone(
      """
      select c.id
      from conversation c
      where c.tags is not null and c.kind <> 'topic' or c.kind = 'topic' and (
        coalesce(json_array_length(c.tags), 0) <> (
          select min(count(*), 5)
          from message m
          join hashtag h on h.message_id = m.id
          where m.conversation_id = c.id and m.seq = 1
        )
        or exists (
          select 1
          from json_each(c.tags) t
          where not exists (
            select 1
            from message m
            join hashtag h on h.message_id = m.id
            where m.conversation_id = c.id and m.seq = 1 and h.tag = t.value
          )
        )
      )
      order by c.id
      """
    ) { row in "conversation \(try row.int(0)) has other tags than the hashtags of its first message" }
    try examination.expectNone(
      """
      select t.conversation_id, t.tag
      from topic_tag t
      where not exists (
        select 1
        from conversation c
        join json_each(c.tags) j
        where c.id = t.conversation_id and j.value = t.tag and c.state = 'open' and c.forum_id = t.forum_id
        and c.pinned = t.pinned and c.activity = t.activity
      )
      """
    ) { row in "the entry of topic \(try row.int(0)) under the tag \(try row.text(1)) differs from the topic" }
    try examination.expectNone(
      """
      select c.id
      from conversation c
      where c.tags is not null and (
        select count(*)
        from topic_tag t
        where t.conversation_id = c.id
      ) <> case when c.state = 'open' then json_array_length(c.tags) else 0 end
      order by c.id
      """
    ) { row in "topic \(try row.int(0)) is not listed under each of its tags" }
    try examination.expectNone(
      """
      select i.id, i.message_id
      from notification i
      left join message m on m.id = i.message_id
      where i.message_id is not null and (m.id is null or i.conversation_id is not m.conversation_id)
      order by i.id
      """
    ) { row in "notification \(try row.int(0)) names missing message \(try row.int(1))" }
    examination.count(try examination.number("select count(*) from forum"), "forums")
    examination.count(try examination.number("select count(*) from message where reply_to is not null"), "replies")
    examination.count(try examination.number("select count(*) from mention"), "mentions")
  }

  static let attachments = Check(
    "attachments",
    "each attachment, avatar, icon and emoji names an existing file, and authors uploaded their attachments"
  ) { examination in
    examination.count(try examination.number("select count(*) from attachment"), "attachments")
    try examination.expectNone(
      """
      select a.message_id, a.file_id
      from (
        select message_id, position, file_id from attachment
        union all select message_id, position, file_id from sealed_attachment
        union all select report_id, position, file_id from held_attachment
      ) a
      where not exists (select 1 from file f where f.id = a.file_id)
      order by a.message_id, a.position
      """
    ) { row in "message \(try row.int(0)) names missing file \(try row.int(1))" }
    try examination.expectNone(
      """
      select a.message_id, a.file_id, f.owner_id
      from attachment a
      join message m on m.id = a.message_id
      join file f on f.id = a.file_id
      where f.owner_id <> m.author_id
      order by a.message_id, a.position
      """
    ) { row in "message \(try row.int(0)) names file \(try row.int(1)) of user \(try row.int(2)), not its author"
    }
    try examination.expectNone(
      """
      select 'account', id, avatar_file_id
      from account
      where avatar_file_id is not null and not exists (select 1 from file f where f.id = avatar_file_id)
      union all
      select 'the cover of account', user_id, cover_file_id
      from dialect_profile
      where cover_file_id is not null and not exists (select 1 from file f where f.id = cover_file_id)
      union all
      select 'forum', id, icon_file_id
      from forum
      where icon_file_id is not null and not exists (select 1 from file f where f.id = icon_file_id)
      union all
      select 'emoji', id, file_id
      from emoji
      where not exists (select 1 from file f where f.id = file_id)
      union all
      select 'the site', 0, cast(value as integer)
      from setting
      where name = 'icon_file' and value <> '' and not exists (select 1 from file f where f.id = cast(value as integer))
      """
    ) { row in "\(try row.text(0)) \(try row.int(1)) names missing file \(try row.int(2))" }
  }

  static let members = Check(
    "members", "the participants of a room are the members of its forum"
  ) { examination in
    examination.count(try examination.number("select count(*) from forum_member"), "members of forums")
    try examination.expectNone(
      """
      select m.user_id, m.forum_id
      from forum_member m
      join forum f on f.id = m.forum_id
      where not exists (
        select 1
        from participant p
        where p.conversation_id = f.room_id and p.user_id = m.user_id
      )
      """
    ) { row in "user \(try row.int(0)) is a member of forum \(try row.int(1)), but not a participant of its room" }
    try examination.expectNone(
      """
      select p.user_id, f.id
      from forum f
      join participant p on p.conversation_id = f.room_id
      where not exists (
        select 1
        from forum_member m
        where m.forum_id = f.id and m.user_id = p.user_id
      )
      """
    ) { row in "user \(try row.int(0)) is a participant of the room of forum \(try row.int(1)), but not a member"
    }
  }

  static let readPositions = Check(
    "read_positions", "no read position, join or history start is beyond the end of its conversation"
  ) { examination in
    examination.count(try examination.number("select count(*) from read_position"), "read positions")
    examination.count(try examination.number("select count(*) from participant"), "participants")
    try examination.expectNone(
      """
      select k.user_id, k.conversation_id, k.delivered_seq, c.last_seq
      from read_position k
      join conversation c on c.id = k.conversation_id
      where k.delivered_seq > c.last_seq
      """
    ) { row in
      "user \(try row.int(0)) has received conversation \(try row.int(1)) up to seq \(try row.int(2)), but it ends at "
        + "\(try row.int(3))"
    }
    try examination.expectNone(
      """
      select p.user_id, p.conversation_id
      from participant p
      join conversation c on c.id = p.conversation_id
      left join stream s on s.id = 4 * c.id + 3
      where p.from_seq > c.last_seq + 1 or p.joined_seq > c.last_seq or p.from_offset > coalesce(s.head, 0) + 1
      """
    ) { row in "the history of user \(try row.int(0)) starts beyond the end of conversation \(try row.int(1))" }
  }
}
