// Large files that come in parts, as rows.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func upload(_ id: ID<Upload>) throws(Refusal) -> Upload? {
    try run { connection in
      try connection.first(
        """
        select owner_id, name, type, public, client_id, size, received, created_at
        from upload
        where id = $1
        """, id.number
      ) { row in
        Upload(
          id: id, owner: ID(try row.int(0)),
          draft: FileDraft(
            name: try row.text(1), type: try row.optionalText(2), isPublic: try row.bool(3),
            clientID: try row.optionalText(4)), size: try row.int(5), offset: try row.int(6),
          createdAt: Int64(try row.int(7)))
      }
    }
  }

  /// How many somebody has under way, and how large they will be together.
  public func uploadsUnderWay(of owner: ID<Account>) throws(Refusal) -> (count: Int, bytes: Int) {
    try run { connection in
      try connection.first("select count(*), coalesce(sum(size), 0) from upload where owner_id = $1", owner.number) {
        row in (try row.int(0), try row.int(1))
      } ?? (0, 0)
    }
  }
}

extension WriteTransaction {
  public func addUpload(_ draft: FileDraft, size: Int, by owner: ID<Account>) throws(Refusal) -> Upload {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into upload (id, owner_id, name, size, type, public, client_id, created_at, touched_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
        """, id, owner.number, draft.name, size, draft.type, draft.isPublic, draft.clientID, Int(now))
    }
    return Upload(id: ID(id), owner: owner, draft: draft, size: size, offset: 0, createdAt: now)
  }

  /// So much of it is on the disk.
  public func note(_ received: Int, of upload: ID<Upload>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update upload
        set received = $1, touched_at = $2
        where id = $3
        """, received, Int(now), upload.number)
    }
  }

  /// It is a file now, or was given up.
  public func removeUpload(_ id: ID<Upload>) throws(Refusal) {
    try run { connection in try connection.execute("delete from upload where id = $1", id.number) }
  }
}
