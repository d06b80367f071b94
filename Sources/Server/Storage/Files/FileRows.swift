// Rows of uploaded files.

public import ParleyModel
import ParleySQLite

/// A newly uploaded file.
public struct NewFile: Sendable {
  public let owner: ID<User>
  public let draft: FileDraft
  public let content: StoredContent
  public let kind: String
  public let mimeType: String
  public let width: Int?
  public let height: Int?
  public let preview: NewPreview?

  public init(
    owner: ID<User>, _ draft: FileDraft, _ content: StoredContent, kind: String, mimeType: String, width: Int?,
    height: Int?, preview: NewPreview? = nil
  ) {
    self.owner = owner
    self.draft = draft
    self.content = content
    self.kind = kind
    self.mimeType = mimeType
    self.width = width
    self.height = height
    self.preview = preview
  }
}

/// A newly uploaded preview.
public struct NewPreview: Sendable {
  public let content: StoredContent
  public let mimeType: String
  public let width: Int
  public let height: Int

  public init(_ content: StoredContent, mimeType: String, width: Int, height: Int) {
    self.content = content
    self.mimeType = mimeType
    self.width = width
    self.height = height
  }
}

/// Storage quotas in bytes, per user and for the site.
public struct FileQuota: Sendable, Hashable {
  public let user: Int
  public let site: Int

  public init(user: Int, site: Int) {
    self.user = user
    self.site = site
  }
}

extension ReadTransaction {
  public func keptFile(_ id: ID<File>) throws(Refusal) -> KeptFile? {
    try run { connection in
      try connection.first(SQL("select \(KeptFile.columns) from file where id = $1"), id.number) { row in
        try KeptFile(row)
      }
    }
  }

  /// Whether this token, which is limited to forums, uploaded the file.
  public func isSent(_ file: ID<File>, by token: ID<Session>) throws(Refusal) -> Bool {
    try isSent("file", file.number, by: token)
  }

  /// Whether this token, which is limited to forums, began the upload.
  public func isSent(_ upload: ID<Upload>, by token: ID<Session>) throws(Refusal) -> Bool {
    try isSent("upload", upload.number, by: token)
  }

  private func isSent(_ table: String, _ id: Int, by token: ID<Session>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(SQL("select 1 from \(table) where id = $1 and session_id = $2"), id, token.number) { _ in
        true
      } ?? false
    }
  }

  /// Files of a user, newest first.
  public func files(of owner: ID<User>, _ slice: ListSlice) throws(Refusal) -> [File] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(KeptFile.columns)
          from file
          where owner_id = $1 and id \(page.comparison) $2
          order by id \(page.order)
          limit $3
          """), owner.number, page.number(), slice.limit
      ) { row in try KeptFile(row).file }
    }
  }

  /// Messages with this attachment, not deleted, newest first.
  public func messages(with file: ID<File>, limit: Int) throws(Refusal) -> [ID<Message>] {
    try run { connection in
      try connection.all(
        """
        select message_id
        from attachment
        where file_id = $1
        order by message_id desc
        limit $2
        """, file.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Bytes used by a user's files, or by all.
  public func fileUse(of owner: ID<User>?) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select bytes from file_use where owner_id = $1", owner?.number ?? 0) { row in
        try row.int(0)
      } ?? 0
    }
  }
}

extension WriteTransaction {
  /// Adds a file, unused until it is attached. Throws if it exceeds the quota.
  ///
  /// - Parameter uploader: the token, if it is limited to forums.
  public func add(_ file: NewFile, by uploader: ID<Session>? = nil, in quota: FileQuota) throws(Refusal) -> File {
    for content in [file.content, file.preview?.content].compactMap(\.self) {
      guard try !isDestroyed(content.digest) else { throw .contentRefused }
    }
    let id = nextID()
    try addUsage(file.content.size + (file.preview?.content.size ?? 0), by: file.owner, in: quota)
    try run { connection in
      try connection.execute(
        """
        insert into file (
          id, owner_id, digest, size, name, type, kind, mime_type, public, width, height, preview_digest, preview_size,
          preview_mime_type, preview_width, preview_height, created_at, unused_since,
          session_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $18)
        """, id, file.owner.number, file.content.digest, file.content.size, file.draft.name, file.draft.type, file.kind,
        file.mimeType, file.draft.isPublic, file.width, file.height, file.preview?.content.digest,
        file.preview?.content.size, file.preview?.mimeType, file.preview?.width, file.preview?.height, Int(now),
        uploader?.number)
    }
    guard let kept = try keptFile(ID(id)) else { throw .notFound }
    return kept.file
  }

  /// Replaces the preview.
  public func setPreview(_ preview: NewPreview, of kept: KeptFile, in quota: FileQuota) throws(Refusal) -> File {
    let id = kept.file.id
    guard try !isDestroyed(preview.content.digest) else { throw .contentRefused }
    if kept.previewDigest != preview.content.digest {
      try recordLoose(kept.previewDigest)
      try addUsage(preview.content.size - (kept.file.preview?.size ?? 0), by: kept.file.owner, in: quota)
      try run { connection in
        try connection.execute(
          """
          update file
          set preview_digest = $1, preview_size = $2, preview_mime_type = $3, preview_width = $4, preview_height = $5
          where id = $6
          """, preview.content.digest, preview.content.size, preview.mimeType, preview.width, preview.height, id.number)
      }
    }
    guard let kept = try keptFile(id) else { throw .notFound }
    return kept.file
  }

  /// Removes the preview.
  func removePreview(of kept: KeptFile) throws(Refusal) {
    try recordLoose(kept.previewDigest)
    try addUsage(-(kept.file.preview?.size ?? 0), by: kept.file.owner, in: nil)
    try run { connection in
      try connection.execute(
        """
        update file
        set preview_digest = null, preview_size = null, preview_mime_type = null, preview_width = null,
          preview_height = null
        where id = $1
        """, kept.file.id.number)
    }
  }

  /// Removes an unused file. Its content goes too, unless another row names it.
  public func remove(_ kept: KeptFile) throws(Refusal) {
    let file = kept.file
    try run { connection in try connection.execute("delete from file where id = $1", file.id.number) }
    try recordLoose(file.digest)
    try recordLoose(kept.previewDigest)
    try addUsage(-(file.size + (file.preview?.size ?? 0)), by: file.owner, in: nil)
    // The name of a file is content.
    try recordDestruction()
  }

  /// Records content as loose.
  private func recordLoose(_ digest: [UInt8]?) throws(Refusal) {
    guard let digest else { return }
    try run { connection in
      try connection.execute(
        """
        insert into unreferenced_content (digest)
        values ($1)
        on conflict (digest) do nothing
        """, digest)
    }
  }

  /// Adds `bytes`, which may be negative, to the usage of a user and of the site.
  private func addUsage(_ bytes: Int, by owner: ID<User>, in quota: FileQuota?) throws(Refusal) {
    for (number, limit) in [(owner.number, quota?.user), (0, quota?.site)] {
      let used = try run { connection in
        try connection.first(
          """
          insert into file_use (owner_id, bytes)
          values ($1, max($2, 0))
          on conflict (owner_id) do update
          set bytes = max(bytes + $2, 0)
          returning bytes
          """, number, bytes
        ) { row in try row.int(0) }
      }
      if let limit, let used, bytes > 0, used > limit { throw .noRoom(limit: limit) }
    }
  }
}

extension KeptFile {
  fileprivate static let columns = "digest, preview_digest, unused_since, \(File.columns()), \(File.Preview.columns())"

  fileprivate init(_ row: borrowing Row) throws {
    let previewDigest = try row.optionalBytes("preview_digest")
    var file = File.blank
    try file.readFields(row, from: row.position("id"))
    file.digest = try row.bytes("digest")
    if previewDigest != nil {
      var preview = File.Preview.blank
      try preview.readFields(row, from: row.position("preview_mime_type"))
      file.preview = preview
    }
    self.init(file, previewDigest: previewDigest, isUnused: try !row.isNull("unused_since"))
  }
}
