// Open reports, grouped by the reported user.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The message, or the held post; 0 for the user.
  private static var subject: String { "ifnull(message_id, iif(held is null, 0, -id))" }

  /// The newest report of each user with its group, without `viewer`. The users with the most reports are first.
  ///
  /// - Parameter subjects: the maximum number of subjects of a group.
  public func reportGroups(
    _ wanted: ReportFilter, _ slice: ListSlice, viewer: ID<User>, subjects: Int
  ) throws(Refusal) -> [Report] {
    let page = Keyset(slice, .descending)
    let found = try run { connection in
      try connection.all(
        SQL(
          """
          select max(id), count(*), count(distinct reporter_id), count(distinct \(Self.subject))
          from report
          where state = 'open' and user_id <> $1 and ($2 is null or forum_id = $2) and ($3 is null or user_id = $3)
            and ($4 is null or assignee_id = $4)
          group by user_id
          having (count(*), max(id)) \(page.comparison) ($5, $6)
          order by count(*) \(page.order), max(id) \(page.order)
          limit $7
          """), viewer.number, wanted.forum?.number, wanted.user?.number, wanted.assignee?.number, page.number(),
        page.number(1), slice.limit
      ) { row in
        (
          newest: ID<Report>(try row.int(0)),
          group: ReportGroup(
            reportCount: try row.int(1), reporterCount: try row.int(2), subjectCount: try row.int(3), subjects: [])
        )
      }
    }
    var groups: [Report] = []
    for (id, group) in found {
      guard var report = try report(id) else { continue }
      report.surroundings = nil
      report.group = group
      report.group?.subjects = try reportSubjects(of: report.user, wanted, limit: subjects)
      groups.append(report)
    }
    return groups
  }

  private func reportSubjects(
    of user: ID<User>, _ wanted: ReportFilter, limit: Int
  ) throws(Refusal) -> [ReportGroup.Subject] {
    let found = try run { connection in
      try connection.all(
        SQL(
          """
          select max(id), count(*)
          from report
          where user_id = $1 and state = 'open' and ($2 is null or forum_id = $2) and ($3 is null or assignee_id = $3)
          group by \(Self.subject)
          order by max(id) desc
          limit $4
          """), user.number, wanted.forum?.number, wanted.assignee?.number, limit
      ) { row in (newest: ID<Report>(try row.int(0)), count: try row.int(1)) }
    }
    var subjects: [ReportGroup.Subject] = []
    for (id, count) in found {
      if let report = try report(id) { subjects.append(ReportGroup.Subject(report: report, reportCount: count)) }
    }
    return subjects
  }

  /// Open reports about a user, in one forum or on the whole site.
  public func openReports(of user: ID<User>, in forum: ID<Forum>?, limit: Int) throws(Refusal) -> [ID<Report>] {
    try run { connection in
      try connection.all(
        """
        select id
        from report
        where user_id = $1 and state = 'open' and ($2 is null or forum_id = $2)
        order by id
        limit $3
        """, user.number, forum?.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Reports about a user that a moderator closed at this time.
  public func reports(
    of user: ID<User>, in forum: ID<Forum>?, handledBy moderator: ID<User>, at time: Int64, limit: Int
  ) throws(Refusal) -> [ID<Report>] {
    try run { connection in
      try connection.all(
        """
        select id
        from report
        where user_id = $1 and state <> 'open' and ($2 is null or forum_id = $2) and handled_by = $3
          and handled_at = $4
        order by id
        limit $5
        """, user.number, forum?.number, moderator.number, Int(time), limit
      ) { row in ID(try row.int(0)) }
    }
  }
}
