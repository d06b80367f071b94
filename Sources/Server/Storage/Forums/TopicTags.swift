// Tags of topics: the first hashtags of the first message. `conversation.tags` has them in the order of the text. Every
// function that changes the text of a first message calls `setTags`; triggers keep `topic_tag`, the index of lists.
//
// A topic from before the start of a reader's history has no tags, for any reader: the events of a topic have the same
// content for all readers of its forum. `TagChanges` announces tags that a change of the starts hides or shows.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Stores the tags of a topic after its first message has changed, and raises its revision. Does nothing for another
  /// kind of conversation and for the same tags. A topic that is closed or being imported logs no event.
  func setTags(of id: ID<Conversation>, _ hashtags: [String], by actor: ID<User>) throws(Refusal) {
    let tags = Topic.tags(from: hashtags).storedTags
    let found = try run { connection in
      try connection.first(
        """
        select tags, state = 'open', forum_id, revision
        from conversation
        where id = $1 and kind = 'topic'
        """, id.number
      ) { row in
        (
          tags: try row.optionalText(0), isOpen: try row.bool(1), forum: ID<Forum>(try row.int(2)),
          revision: try row.int(3)
        )
      }
    }
    guard let found, found.tags.map({ Array($0.utf8) }) != tags.map({ Array($0.utf8) }) else { return }
    let revision = found.revision + (found.isOpen ? 1 : 0)
    try run { connection in
      try connection.execute(
        """
        update conversation
        set tags = $1, revision = $2
        where id = $3
        """, tags, revision, id.number)
    }
    guard found.isOpen else { return }
    for stream in [EventStream.conversation(id), .forum(found.forum)] {
      try log(.conversationUpdated, in: stream, subject: id.number, revision: revision, actor: actor.number)
    }
  }
}

extension ReadTransaction {
  /// The tags of a topic that begins with this message.
  public func tags(of message: Message) throws(Refusal) -> [String] {
    try run { _ in Topic.tags(from: try MessageEntities.hashtags(in: message.content?.entities)) }
  }

  func hashtags(in entities: String?) throws(Refusal) -> [String] {
    try run { _ in try MessageEntities.hashtags(in: entities.map { JSONRaw(trusted: Array($0.utf8)) }) }
  }

  /// Topics of a forum with a tag: pinned ones first, then by newest activity. With another filter the rows of other
  /// topics are read, too: run it on a background reader.
  public func topics(
    of forum: ID<Forum>, tagged tag: String, by creator: ID<User>? = nil, isSolved: Bool? = nil, _ slice: ListSlice
  ) throws(Refusal) -> [Topic] {
    let page = Keyset(slice, .descending)
    let start = try firstTagged(in: forum)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(Topic.columns)
          from topic_tag t
          join conversation c on c.id = t.conversation_id
          where t.forum_id = $1 and t.tag = $2 and (t.pinned, t.activity) \(page.comparison) ($3, $4)
          and t.conversation_id > $5
          and ($6 is null or c.created_by = $6) and ($7 is null or (c.solved_by is not null) = $7)
          order by t.pinned \(page.order), t.activity \(page.order), t.conversation_id \(page.order)
          limit $8
          """), forum.number, tag, page.number(), page.number(1), start, creator?.number, isSolved, slice.limit,
        read: Topic.init)
    }
  }

  /// The tags of the most topics of a forum. Reads the tags of all its topics: run it on a background reader.
  public func tags(of forum: ID<Forum>, limit: Int) throws(Refusal) -> [ForumTag] {
    let start = try firstTagged(in: forum)
    var most: [ForumTag] = []
    try run { connection in
      try connection.each(
        """
        select tag, count(*)
        from topic_tag
        where forum_id = $1 and conversation_id > $2
        group by tag
        """, forum.number, start
      ) { row in
        let found = ForumTag(try row.text(0), count: try row.int(1))
        // In the order of the tags, so that of two with the same count the first stays.
        guard most.count < limit || found.count > most.last?.count ?? 0 else { return }
        most.insert(found, at: most.firstIndex { $0.count < found.count } ?? most.count)
        if most.count > limit { most.removeLast() }
      }
    }
    return most
  }

  /// The id after which topics show their tags.
  func firstTagged(in forum: ID<Forum>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(SQL("select \(Topic.lateStart)\nfrom forum f\nwhere f.id = $1"), forum.number) { row in
        try row.int(0)
      } ?? 0
    }
  }
}

extension Topic {
  /// The latest start of a reader's history in a forum `f`.
  fileprivate static let lateStart = """
    max(f.users_from_id, f.anyone_from_id, coalesce((
      select max(m.from_id)
      from forum_member m
      where m.forum_id = f.id and m.from_id > 0
    ), 0))
    """

  /// The tags of a conversation `c`, or null.
  static let shownTags = """
    case when c.tags is not null and c.id > (
      select \(lateStart)
      from forum f
      where f.id = c.forum_id
    ) then c.tags end
    """
}

extension [String] {
  /// Tags as stored: null without any.
  var storedTags: String? {
    if isEmpty { return nil }
    var json = JSONWriter()
    json.value(self)
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension Row {
  func tags(_ column: Int) throws -> [String] {
    guard let text = try optionalText(column) else { return [] }
    guard let tags = [String](.text(text)) else { throw unexpected(column) }
    return tags
  }
}
