// Forums by their last changes, for clients that ask for the forums after a time.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Forums visible to a user, last change first: those of the visibilities `visible`, the user's own and those of the user's
  /// groups. Skips the rows of the offset: run it on a background reader.
  ///
  /// - Parameter time: in microseconds since 1970. The changes are later.
  public func forums(
    changedAfter time: Int, for user: ID<User>?, seeing visible: [Visibility], offset: Int, limit: Int
  ) throws(Refusal) -> [Forum] {
    let ids = try run { connection in
      try connection.all(
        SQL(
          """
          select f.id
          from forum f
          where f.changed_at > $1 and f.deleted_at is null
          and (
            case f.visibility when 'public' then $2 when 'members' then $3 else $4 end
            or f.id in (\(ForumStanding.ownForums(of: "$5")))
          )
          order by f.changed_at desc
          limit $6
          offset $7
          """), time, visible.contains(.public), visible.contains(.members), visible.contains(.private), user?.number,
        limit, offset
      ) { row in ID<Forum>(try row.int(0)) }
    }
    let found = try forums(ids)
    return ids.compactMap { found[$0] }
  }
}
