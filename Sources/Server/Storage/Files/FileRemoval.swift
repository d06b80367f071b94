// Files that nothing shows go after a while. First the row goes, in a transaction like any other, and its content is noted as
// loose. When that is committed, and no backup is under way, content that no row names is removed between two batches:
// so nothing is removed that a rolled-back transaction, or a backup, would still name.

import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// How long a file stays that nothing shows, in milliseconds: a day, so that a draft finds its pictures.
  static let fileGrace: Int64 = 86_400_000
  /// How long an upload stays that does not go on.
  static let uploadGrace: Int64 = 86_400_000

  /// Whether more are left.
  func removeUnusedFiles(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select id
        from file
        where unused_since <= $1
        order by unused_since
        limit $2
        """, Int(now - Self.fileGrace), limit + 1
      ) { row in ID<File>(try row.int(0)) }
    }
    for id in due.prefix(limit) {
      if let kept = try keptFile(id) { try remove(kept) }
    }
    return due.count > limit
  }

  /// Whether more are left. What has come of them goes with the next sweep.
  func removeIdleUploads(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from upload
        where id in (
          select id
          from upload
          where touched_at <= $1
          order by touched_at
          limit $2
        )
        """, Int(now - Self.uploadGrace), limit) == limit
    }
  }
}

extension Store {
  /// How many files are removed while nobody writes.
  private static let contentsAtOnce = 20

  /// Removes content that is loose, a little at a time; whether more is left that can go now.
  func removeLooseContent() async throws(Refusal) -> Bool {
    try await aside { [blobs, backups] connection in
      guard !backups.isBusy else { return false }
      for digest in blobs.takeReleased() where try !connection.isNamed(digest) { _ = try blobs.remove(digest) }
      let none: [UInt8] = []
      let loose = try connection.all(
        "select digest from loose_content where digest >= $1 order by digest limit $2", none, Self.contentsAtOnce
      ) { row in try row.bytes(0) }
      var isDone = false
      for digest in loose {
        // Somebody may be about to name it: then it stays loose until the next time.
        let isSettled = try connection.isNamed(digest) || blobs.remove(digest)
        guard isSettled else { continue }
        isDone = true
        try connection.execute("delete from loose_content where digest = $1", digest)
      }
      return isDone && loose.count == Self.contentsAtOnce
    }
  }

  /// What a crash has left, once after the start: content that no row came to name, and parts of uploads that are no more.
  func removeStrays() async throws(Refusal) {
    try await removeStrayParts()
    let contents: [[UInt8]]
    do throws(DiskError) { contents = try blobs.contents() } catch { throw blobs.broken(error) }
    for start in stride(from: 0, to: contents.count, by: 200) {
      let some = Array(contents[start..<min(start + 200, contents.count)])
      let strays = try await readInBackground { tx throws(Refusal) in
        try tx.run { connection in try some.filter { try !connection.isNamed($0) } }
      }
      guard !strays.isEmpty else { continue }
      try await write { tx throws(Refusal) in
        for digest in strays {
          try tx.run { connection in
            try connection.execute(
              """
              insert into loose_content (digest)
              values ($1)
              on conflict (digest) do nothing
              """, digest)
          }
        }
      }
    }
  }

  /// Of uploads that are no more.
  func removeStrayParts() async throws(Refusal) {
    let parts: [ID<Upload>]
    do throws(DiskError) { parts = try blobs.parts() } catch { throw blobs.broken(error) }
    guard !parts.isEmpty else { return }
    for part in parts {
      let isOpen = try await readInBackground { tx throws(Refusal) in try tx.upload(part) != nil }
      if !isOpen { await blobs.end(part) }
    }
  }
}

extension Connection {
  /// Whether a row names the bytes, as its own or as its preview.
  func isNamed(_ digest: [UInt8]) throws(SQLiteError) -> Bool {
    try first(
      """
      select 1
      from file
      where digest = $1
      union all
      select 1
      from file
      where preview_digest = $2
      limit 1
      """, digest, digest
    ) { row in try row.int(0) } != nil
  }
}
