// Posts that wait for a moderator. A held post is part of the report of a rule; its files are kept with it.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The number of posts of an author that wait, counted up to `limit`.
  public func heldPostCount(by author: ID<User>, upTo limit: Int) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from (select 1 from report where user_id = $1 and state = 'open' and held is not null limit $2) waiting
        """, author.number, limit
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Whether a user has an open report by a rule.
  public func hasOpenRuleReport(of user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from report
        where user_id = $1 and state = 'open' and rule_id is not null
        limit 1
        """, user.number
      ) { _ in true } ?? false
    }
  }

  /// The reports that hold a post with this file.
  public func reports(holding file: ID<File>, limit: Int) throws(Refusal) -> [ID<Report>] {
    try run { connection in
      try connection.all(
        """
        select report_id
        from held_attachment
        where file_id = $1
        order by report_id
        limit $2
        """, file.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Whether an author has fewer than `count` messages outside of private conversations, not counting `message` and
  /// later ones. Of an author with very many messages the first are examined, and the answer is no.
  public func isAmongFirst(_ count: Int, by author: ID<User>, before message: ID<Message>?) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select count(*), ifnull(sum(c.forum_id is not null or c.readers <> 'listed'), 0)
        from (
          select conversation_id
          from message
          where author_id = $1 and id < $2 and deletion is null and kind = 'message'
          order by id
          limit $3
        ) written
        join conversation c on c.id = written.conversation_id
        """, author.number, message?.number ?? Int.max, Self.maxCounted
      ) { row in try row.int(0) < Self.maxCounted && row.int(1) < count } ?? true
    }
  }

  private static var maxCounted: Int { 1_000 }
}

extension WriteTransaction {
  /// Keeps the files of a held post.
  func keep(_ files: [ID<File>], for report: ID<Report>) throws(Refusal) {
    for (position, file) in files.enumerated() {
      try use(file)
      try run { connection in
        try connection.execute(
          """
          insert into held_attachment (report_id, position, file_id)
          values ($1, $2, $3)
          """, report.number, position, file.number)
      }
    }
  }

  func releaseFiles(heldBy report: ID<Report>) throws(Refusal) {
    let files: [ID<File>] = try run { connection in
      try connection.all("select file_id from held_attachment where report_id = $1", report.number) { row in
        ID(try row.int(0))
      }
    }
    guard !files.isEmpty else { return }
    try run { connection in
      try connection.execute("delete from held_attachment where report_id = $1", report.number)
    }
    try release(files)
  }

  /// Deletes the held posts of a user, at most `limit`. Returns whether none is left.
  func dropHeldPosts(of user: ID<User>, limit: Int) throws(Refusal) -> Bool {
    let found: [ID<Report>] = try run { connection in
      try connection.all("select id from report where user_id = $1 and held is not null limit $2", user.number, limit) {
        row in ID(try row.int(0))
      }
    }
    for report in found { try dropHeldPost(of: report) }
    return found.count < limit
  }

  func dropHeldPost(of report: ID<Report>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update report set held = null, copy_until = iif(copy is null, null, copy_until) where id = $1",
        report.number)
    }
    try releaseFiles(heldBy: report)
    try recordDestruction()
  }
}
