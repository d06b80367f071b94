// Removal of unused files after a grace period. First a transaction deletes the row and records its content as loose.
// After the commit, and while no backup or export is running, content without a row is removed between two batches. So content
// that a rolled-back transaction, a backup or an export still names is never removed.

import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Grace period of an unused file in milliseconds: a day, so that a draft finds its pictures.
  static let fileGracePeriod: Int64 = 86_400_000
  /// Grace period of an idle upload in milliseconds.
  static let uploadGracePeriod: Int64 = 86_400_000

  /// Returns whether more remain.
  func removeUnusedFiles(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select id
        from file
        where unused_since <= $1
        order by unused_since
        limit $2
        """, Int(now - Self.fileGracePeriod), limit + 1
      ) { row in ID<File>(try row.int(0)) }
    }
    for id in due.prefix(limit) {
      if let kept = try keptFile(id) { try remove(kept) }
    }
    return due.count > limit
  }

  /// Removes files of deleted content without their grace period. Files that no message has had yet remain: they may
  /// belong to a draft. Returns the number of removed files; fewer than `limit` if no more remain.
  func removeReleasedFiles(limit: Int) throws(Refusal) -> Int {
    let released = try run { connection in
      try connection.all(
        """
        select id
        from file
        where unused_since is not null and unused_since > created_at
        order by unused_since
        limit $1
        """, limit
      ) { row in ID<File>(try row.int(0)) }
    }
    for id in released {
      if let kept = try keptFile(id) { try remove(kept) }
    }
    return released.count
  }

  /// Returns whether more remain. The next sweep removes the received bytes.
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
        """, Int(now - Self.uploadGracePeriod), limit) == limit
    }
  }
}

extension Store {
  /// Number of files removed while the writer is blocked.
  private static let contentsPerSweep = 20

  /// Removes loose content in small parts. Returns whether more can be removed now.
  ///
  /// - Parameter duringBackup: whether a running backup or export may miss the content.
  func removeLooseContent(duringBackup: Bool = false) async throws(Refusal) -> Bool {
    try await aside { [blobs, backups, exports] connection in
      guard duringBackup || !backups.isBusy && !exports.isBusy else { return false }
      for digest in blobs.takeReleased() where try !connection.isReferenced(digest) { _ = try blobs.remove(digest) }
      let none: [UInt8] = []
      let loose = try connection.all(
        "select digest from unreferenced_content where digest >= $1 order by digest limit $2", none,
        Self.contentsPerSweep
      ) { row in try row.bytes(0) }
      var isDone = false
      for digest in loose {
        // Claimed content stays loose until the next sweep.
        let isSettled = try connection.isReferenced(digest) || blobs.remove(digest)
        guard isSettled else { continue }
        isDone = true
        try connection.execute("delete from unreferenced_content where digest = $1", digest)
      }
      return isDone && loose.count == Self.contentsPerSweep
    }
  }

  /// Whether content without a row remains, because it is claimed.
  func hasLooseContent() async throws(Refusal) -> Bool {
    try await readInBackground { tx throws(Refusal) in
      try tx.run { connection in
        let none: [UInt8] = []
        return try connection.first("select 1 from unreferenced_content where digest >= $1 limit 1", none) { _ in true }
          ?? false
      }
    }
  }

  /// Cleanup after a crash, once per start: content without a row, and received bytes of ended uploads.
  func removeOrphanedContent() async throws(Refusal) {
    try await removeOrphanedParts()
    let contents: [[UInt8]]
    do throws(DiskError) { contents = try blobs.contents() } catch { throw blobs.storageFailure(error) }
    for start in stride(from: 0, to: contents.count, by: 200) {
      let some = Array(contents[start..<min(start + 200, contents.count)])
      let orphans = try await readInBackground { tx throws(Refusal) in
        try tx.run { connection in try some.filter { try !connection.isReferenced($0) } }
      }
      guard !orphans.isEmpty else { continue }
      try await write { tx throws(Refusal) in
        for digest in orphans {
          try tx.run { connection in
            try connection.execute(
              """
              insert into unreferenced_content (digest)
              values ($1)
              on conflict (digest) do nothing
              """, digest)
          }
        }
      }
    }
  }

  /// Removes received bytes of ended uploads.
  func removeOrphanedParts() async throws(Refusal) {
    let parts: [ID<Upload>]
    do throws(DiskError) { parts = try blobs.parts() } catch { throw blobs.storageFailure(error) }
    guard !parts.isEmpty else { return }
    for part in parts {
      let isOpen = try await readInBackground { tx throws(Refusal) in try tx.upload(part) != nil }
      if !isOpen { await blobs.discard(part) }
    }
  }
}

extension Connection {
  /// Whether a row names the content, as file or preview.
  func isReferenced(_ digest: [UInt8]) throws(SQLiteError) -> Bool {
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
