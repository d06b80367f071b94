// Destruction of content by an owner: a message with its files, a file, or a user with all messages and files. Nothing
// of it can be restored. One transaction destroys the text of a message; a stored job detaches files that are in use many
// times, and completes the erasure of a user. `Store.purgeDestroyed` then removes the bytes.
//
// The tables `destroyed_message` and `destroyed_content` and the journal of erasures have ids and digests only.

import ParleyCrypto
import ParleyJSON
public import ParleyModel
import ParleySQLite

/// Progress of the job that destroys files.
struct FileDestruction: Sendable {
  let actor: ID<User>
  /// SHA-256 of the contents that remain, in hexadecimal.
  var digests: [String]
  /// SHA-256 of previews of the destroyed files.
  var previews: [String]
}

extension FileDestruction: JSONWritable, JSONReadable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("actor", actor)
      json.field("digests", digests)
      json.field("previews", previews)
    }
  }

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    actor = try object.read("actor")
    digests = try object.read("digests")
    previews = try object.optional("previews") ?? []
    try object.finish()
  }
}

extension JobKind {
  /// Completes `WriteTransaction.destroyContents`.
  public static let fileDestruction = JobKind("file-destruction") {
    (tx, destruction: inout FileDestruction) throws(Refusal) in try tx.destroyNextFiles(&destruction)
  }
}

// MARK: Messages

extension WriteTransaction {
  /// Destroys a message, its copies in reports, and its files wherever else they are used. A message that was moved is
  /// destroyed at its present position.
  ///
  /// - Returns: the job for files in use many times; nil if there is no work left.
  public func destroyMessage(_ id: ID<Message>, by actor: ID<User>) throws(Refusal) -> ID<Job>? {
    var current = id
    while let moved = try movedPosition(of: current) { current = moved.id }
    var files: [ID<File>] = []
    // An older backup has the message at an earlier position.
    var position: ID<Message>? = current
    while let message = position {
      files += try attachments(of: message) + sealedAttachments(of: message)
      try destroyContent(of: message, by: actor)
      position = try originalPosition(of: message)
    }
    var digests: [[UInt8]] = []
    var previews: [[UInt8]] = []
    for file in files {
      guard let kept = try keptFile(file) else { continue }
      digests.append(kept.file.digest)
      if let preview = kept.previewDigest { previews.append(preview) }
    }
    return digests.isEmpty ? nil : try destroyContents(digests, previews: previews, by: actor)
  }

  private func destroyContent(of id: ID<Message>, by actor: ID<User>) throws(Refusal) {
    let message = try state(of: id)
    switch message.deletion {
    case nil: _ = try entomb(message, as: .erased, by: actor)
    case .moderator:
      try breakSeal(of: id)
      // A restore is no longer offered.
      try run { connection in
        try connection.execute(
          """
          update message
          set deletion = $1, reason = null, revision = revision + 1
          where id = $2
          """, Deletion.erased.rawValue, id.number)
      }
      _ = try logChange(.deleted, of: message, by: actor)
    case .author, .moved, .erased: break
    }
    try removeReportCopies(of: id, in: message.conversation)
    let createdAt = try run { connection in
      try connection.execute(
        "insert into destroyed_message (message_id) values ($1) on conflict (message_id) do nothing", id.number)
      return try connection.first("select created_at from message where id = $1", id.number) { row in try row.int(0) }
    }
    guard let createdAt else { throw .notFound }
    erasures.append(try run { _ in try Erasure(message: id.number, createdAt: createdAt) })
    try recordDestruction()
  }

  private func originalPosition(of message: ID<Message>) throws(Refusal) -> ID<Message>? {
    try run { connection in
      try connection.first("select moved_from from message where id = $1", message.number) { row in
        try row.optionalInt(0)
      }
    }.flatMap(\.self).map { ID($0) }
  }

  /// Removes the copies of a message in reports about it, and in the context of other open reports.
  private func removeReportCopies(of message: ID<Message>, in conversation: ID<Conversation>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update report
        set copy = null, surroundings = null, copy_until = iif(held is null, null, copy_until)
        where message_id = $1 and copy is not null
        """, message.number)
      try connection.execute(
        """
        update report
        set surroundings = (
          select json_group_array(json(value))
          from json_each(surroundings)
          where value ->> 'id' <> $1
        )
        where state = 'open' and conversation_id = $2 and surroundings is not null and exists (
          select 1
          from json_each(surroundings)
          where value ->> 'id' = $1
        )
        """, message.description, conversation.number)
    }
    try recordDestruction()
  }
}

// MARK: Files

extension WriteTransaction {
  /// Destroys all files with the content of this file, and its preview wherever it is a preview.
  ///
  /// - Returns: the job for files in use many times; nil if there is no work left.
  public func destroyFile(_ id: ID<File>, by actor: ID<User>) throws(Refusal) -> ID<Job>? {
    guard let kept = try keptFile(id) else { throw .notFound }
    return try destroyContents([kept.file.digest], previews: kept.previewDigest.map { [$0] } ?? [], by: actor)
  }

  /// Destroys all files with these contents. They can't be uploaded again. Other files lose these previews. An uploader
  /// chooses the preview: one that is also the content of a file, such as an avatar, remains.
  func destroyContents(
    _ digests: [[UInt8]], previews: [[UInt8]] = [], by actor: ID<User>
  ) throws(Refusal) -> ID<Job>? {
    for digest in digests {
      try run { connection in
        try connection.execute(
          "insert into destroyed_content (digest) values ($1) on conflict (digest) do nothing", digest)
      }
      erasures.append(Erasure(content: digest))
    }
    var destruction = FileDestruction(
      actor: actor, digests: digests.map { Hex.text($0) }, previews: previews.map { Hex.text($0) })
    guard try !destroyNextFiles(&destruction) else { return nil }
    return try startJob(kind: JobKind.fileDestruction.name, subject: actor.number, by: actor, state: destruction)
  }

  /// The newest destruction of files that has not ended, or has failed.
  public func unfinishedFileDestruction() throws(Refusal) -> ID<Job>? {
    try run { connection in
      try connection.first(
        """
        select id
        from job
        where kind = $1 and (finished_at is null or error is not null)
        order by id desc
        limit 1
        """, JobKind.fileDestruction.name
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Whether an owner destroyed this content.
  func isDestroyed(_ digest: [UInt8]) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from destroyed_content where digest = $1", digest) { _ in true } ?? false
    }
  }

  private static var filesPerChunk: Int { 20 }
  private static var usesPerChunk: Int { 50 }

  /// Runs one chunk. Returns whether no file is left.
  fileprivate func destroyNextFiles(_ destruction: inout FileDestruction) throws(Refusal) -> Bool {
    let start = changeCount
    while let text = destruction.digests.last {
      guard let digest = Hex.bytes(text) else { throw broken("\(text) is not a digest") }
      let files = try self.files(withContent: digest, limit: Self.filesPerChunk)
      for file in files {
        guard changeCount - start < Self.changesPerChunk else { return false }
        guard let kept = try keptFile(file) else { continue }
        if kept.file.digest == digest {
          guard try destroy(kept, by: destruction.actor) else { return false }
        } else {
          try removePreview(of: kept)
        }
      }
      if files.count < Self.filesPerChunk { destruction.digests.removeLast() }
    }
    while let text = destruction.previews.last {
      guard let preview = Hex.bytes(text) else { throw broken("\(text) is not a digest") }
      let files = try isContent(preview) ? [] : self.files(withContent: preview, limit: Self.filesPerChunk)
      for file in files {
        guard changeCount - start < Self.changesPerChunk else { return false }
        if let kept = try keptFile(file) { try removePreview(of: kept) }
      }
      if files.count < Self.filesPerChunk { destruction.previews.removeLast() }
    }
    return true
  }

  /// Whether a file has this content, not only as its preview.
  private func isContent(_ digest: [UInt8]) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from file where digest = $1 limit 1", digest) { _ in true } ?? false
    }
  }

  /// Destroys files of a user, whose contents may be in use by others. Returns whether no file is left.
  func destroyFiles(of owner: ID<User>, by actor: ID<User>) throws(Refusal) -> Bool {
    let start = changeCount
    let files = try self.files(of: owner, ListSlice(limit: Self.filesPerChunk))
    for file in files {
      guard changeCount - start < Self.changesPerChunk else { return false }
      guard let kept = try keptFile(file.id) else { continue }
      guard try destroy(kept, by: actor) else { return false }
    }
    return files.count < Self.filesPerChunk
  }

  private func files(withContent digest: [UInt8], limit: Int) throws(Refusal) -> [ID<File>] {
    try run { connection in
      try connection.all(
        """
        select id
        from file
        where digest = $1 or preview_digest = $1
        limit $2
        """, digest, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Detaches a file from everything that uses it and removes it. Returns whether it is gone.
  private func destroy(_ kept: KeptFile, by actor: ID<User>) throws(Refusal) -> Bool {
    let file = kept.file.id
    let messages = try self.messages(with: file, limit: Self.usesPerChunk)
    for message in messages { try detach(file, from: message, by: actor) }
    guard messages.count < Self.usesPerChunk else { return false }
    try run { connection in
      try connection.execute("delete from sealed_attachment where file_id = $1", file.number)
    }
    for report in try reports(holding: file, limit: Self.usesPerChunk) { try dropHeldPost(of: report) }
    try removePictures(file, by: actor)
    guard let kept = try keptFile(file) else { return true }
    try remove(kept)
    return true
  }

  /// A message that has nothing else is destroyed with the file.
  private func detach(_ file: ID<File>, from id: ID<Message>, by actor: ID<User>) throws(Refusal) {
    let message = try state(of: id)
    try removeReportCopies(of: id, in: message.conversation)
    let hasMore = try run { connection in
      try connection.first(
        """
        select 1
        from message m
        where m.id = $1 and (
          m.text <> '' or m.annotations is not null or m.has_poll is not null or m.buttons is not null or exists (
            select 1
            from attachment a
            where a.message_id = m.id and a.file_id <> $2
          )
        )
        """, id.number, file.number
      ) { _ in true } ?? false
    }
    guard hasMore else {
      _ = try entomb(message, as: .erased, by: actor)
      return
    }
    if let entry = try searchEntry(of: id) { searchChanges.append(.remove(entry)) }
    try run { connection in
      try connection.execute("delete from attachment where message_id = $1 and file_id = $2", id.number, file.number)
      try connection.execute("update message set revision = revision + 1 where id = $1", id.number)
    }
    if let entry = try searchEntry(of: id) { searchChanges.append(.add(entry)) }
    try dropFingerprint(of: message)
    _ = try logChange(.edited, of: message, by: actor)
  }

  /// Removes the file as avatar, cover, custom emoji, and icon of forums and of the site.
  private func removePictures(_ file: ID<File>, by actor: ID<User>) throws(Refusal) {
    let (users, emoji): ([ID<User>], [ID<CustomEmoji>]) = try run { connection in
      (
        try connection.all("select id from account where avatar_file_id = $1", file.number) { ID(try $0.int(0)) },
        try connection.all("select id from emoji where file_id = $1", file.number) { ID(try $0.int(0)) }
      )
    }
    for user in users {
      if let user = try self.user(user) { try setAvatar(nil, of: user, by: actor) }
    }
    try removeCovers(file)
    for emoji in emoji { try removeCustomEmoji(emoji, by: actor) }
    for forum in try forums(withIcon: file, limit: Self.usesPerChunk) {
      guard let before = try self.forum(forum) else { continue }
      var after = before
      after.icon = nil
      _ = try change(before, to: after, by: actor)
    }
    var settings = try settings()
    guard settings.icon == file else { return }
    settings.icon = nil
    _ = try change(settings, by: actor)
  }
}

// MARK: Bytes

extension Store {
  /// Removes the bytes of destroyed content: the files, also during a backup, which skips them, then the text by a
  /// complete purge.
  ///
  /// - Returns: false if a reader, an upload, the disk or a job delays it; housekeeping completes it.
  public func purgeDestroyed(after job: ID<Job>?) async throws(Refusal) -> Bool {
    if let job {
      await jobs.run()
      let isFinished = try await readInBackground { tx throws(Refusal) in
        try tx.job(job).map { $0.finishedAt != nil && $0.error == nil } ?? true
      }
      guard isFinished else { return false }
    }
    exports.beginPurge()
    defer { exports.endPurge() }
    try await discardExports()
    while try await removeLooseContent(duringBackup: true) {}
    try await removeOrphanedParts()
    guard try await !hasLooseContent() else {
      log("Destroyed content is not purged yet: an upload has the same content.")
      return false
    }
    do throws(PurgeFault) {
      _ = try await purge { _ in }
      return true
    } catch {
      log("Destroyed content is not purged yet: \(error)")
      return false
    }
  }
}
