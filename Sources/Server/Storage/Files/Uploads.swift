// Rows of resumable uploads.

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

  /// Number and total size of a user's open uploads.
  public func openUploads(of owner: ID<User>) throws(Refusal) -> (count: Int, bytes: Int) {
    try run { connection in
      try connection.first("select count(*), coalesce(sum(size), 0) from upload where owner_id = $1", owner.number) {
        row in (try row.int(0), try row.int(1))
      } ?? (0, 0)
    }
  }
}

extension WriteTransaction {
  /// - Parameter uploader: the token, if it is limited to forums.
  public func addUpload(
    _ draft: FileDraft, size: Int, by owner: ID<User>, _ uploader: ID<Session>? = nil
  ) throws(Refusal) -> Upload {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into upload (id, owner_id, name, size, type, public, client_id, created_at, touched_at, session_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)
        """, id, owner.number, draft.name, size, draft.type, draft.isPublic, draft.clientID, Int(now), uploader?.number)
    }
    return Upload(id: ID(id), owner: owner, draft: draft, size: size, offset: 0, createdAt: now)
  }

  /// Records the number of durable bytes.
  public func recordReceived(_ received: Int, of upload: ID<Upload>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update upload
        set received = $1, touched_at = $2
        where id = $3
        """, received, Int(now), upload.number)
    }
  }

  /// Removes a completed or cancelled upload.
  public func removeUpload(_ id: ID<Upload>) throws(Refusal) {
    try run { connection in try connection.execute("delete from upload where id = $1", id.number) }
  }
}
