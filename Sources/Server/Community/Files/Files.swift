// File uploads and read access.

import Media
import ParleyCrypto
public import ParleyModel
import Storage

/// The result of an upload.
public struct CreatedFile: Sendable {
  public let file: File
  /// False if an earlier request with the same `client_id` created the file.
  public let isNew: Bool
}

extension Community {
  /// Begins to receive content.
  ///
  /// - Parameter announced: the size, if known. Content above the remaining space is refused before it is sent.
  public func intake(
    for caller: Caller, announced: Int?, limit: Int? = nil, _ view: CommunityView
  ) throws(Refusal) -> FileIntake {
    let owner = try caller.requireUser(.write)
    if store.refusesUploads { throw .diskFull }
    let limit = limit ?? bounds.fileBytes
    if let announced, announced > limit + Self.maxFormOverhead { throw .tooLarge(limit: limit) }
    let (settings, quota, left) = try view.read { [bounds] tx throws(Refusal) in
      let quota = try tx.quota(of: try tx.reloadCaller(caller), bounds)
      return (try tx.settings(), quota, try tx.room(of: owner, quota))
    }
    let reservation = uploadQuota.reserve(for: owner, left)
    if let announced, announced - Self.maxFormOverhead > left.user { throw .noRoom(limit: quota.user) }
    return FileIntake(
      store.blobs.writer(), reservation, limit: limit, cutsMetadata: settings.cutsMetadata,
      maxPixels: bounds.imagePixels)
  }

  /// The maximum size of multipart framing around a file, in bytes.
  public static let maxFormOverhead = 65_536

  /// Creates a file from received content.
  public func createFile(
    _ draft: FileDraft, of intake: FileIntake, preview: FileIntake? = nil, by caller: Caller
  ) async throws(Refusal) -> CreatedFile {
    let owner = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    let small = try await preview?.finishedPreview(bounds)
    let taken = try await intake.finish()
    let file = NewFile(
      owner: owner, draft, taken.content, kind: taken.format.kind.rawValue, mimeType: taken.format.mimeType,
      width: taken.size?.width, height: taken.size?.height, preview: small)
    return try await store.write { [bounds] tx throws(Refusal) in
      try tx.make(file, by: caller, in: try tx.quota(of: caller, bounds))
    }
  }

  /// Sets or replaces the preview. Only for the uploader.
  public func setFilePreview(_ preview: FileIntake, of id: ID<File>, by caller: Caller) async throws(Refusal) -> File {
    let owner = try caller.requireUser(.write)
    let small = try await preview.finishedPreview(bounds)
    return try await store.write { [bounds] tx throws(Refusal) in
      try tx.checkSession(caller)
      let stored = try tx.file(id, for: caller)
      guard stored.file.owner == owner else { throw .forbidden }
      return try tx.setPreview(small, of: stored, in: try tx.quota(of: caller, bounds))
    }
  }

  /// Deletes an unused file. Only for the uploader.
  public func deleteFile(_ id: ID<File>, by caller: Caller) async throws(Refusal) {
    let owner = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      // Without effect for a deleted file, and for an invisible one, whose existence is not revealed.
      guard let stored = try tx.keptFile(id) else { return }
      guard stored.file.owner == owner else {
        if try tx.mayRead(stored, caller) { throw .forbidden }
        return
      }
      if caller.forums != nil, try !tx.mayRead(stored, caller) { return }
      guard stored.isUnused else { throw .conflict }
      try tx.remove(stored)
    }
  }
}

extension Community {
  /// The path of the content on disk.
  public func path(ofContent digest: [UInt8]) -> String { store.blobs.path(of: digest) }

  /// Whether a browser may display this type inline.
  public func isShownInline(_ mimeType: String) -> Bool { FileFormat(rawValue: mimeType)?.isShownInline ?? false }
}

extension CommunityView {
  public func getFile(_ id: ID<File>, for caller: Caller) throws(Refusal) -> KeptFile {
    try read { tx throws(Refusal) in try tx.file(id, for: caller) }
  }

  /// The readable files among `ids`, in the same order.
  public func listFiles(_ ids: [ID<File>], for caller: Caller) throws(Refusal) -> [File] {
    guard ids.count <= community.bounds.filesPerRequest else {
      throw .invalid("ids", .tooMany(limit: community.bounds.filesPerRequest))
    }
    return try readableFiles(ids, for: caller)
  }

  /// The files in the order of `ids`, without those that the caller may not read.
  public func readableFiles(_ ids: [ID<File>], for caller: Caller) throws(Refusal) -> [File] {
    try read { tx throws(Refusal) in
      var found: [File] = []
      for id in ids {
        guard let stored = try tx.keptFile(id), try tx.mayRead(stored, caller) else { continue }
        found.append(stored.file)
      }
      return found
    }
  }

  /// The caller's files, newest first.
  public func listFiles(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<File> {
    let owner = try caller.requireUser()
    try caller.requireWholeSite()
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.files(of: owner, slice) }
    }
  }

  /// Whether the caller's credential is still valid; checked during long uploads.
  public func isSessionValid(_ caller: Caller) throws(Refusal) -> Bool {
    try read { tx throws(Refusal) in try tx.hasValidSession(caller) }
  }
}

extension ReadTransaction {
  /// The maximum number of messages checked for read access to an attached file.
  private static let maxMessages = 100
  private static let maxForums = 20

  /// Throws `notFound` if the caller may not read the file.
  func file(_ id: ID<File>, for caller: Caller) throws(Refusal) -> KeptFile {
    guard let stored = try keptFile(id), try mayRead(stored, caller) else { throw .notFound }
    return stored
  }

  /// A file is readable by the readers of any message, profile or forum that uses it, and by the moderators of a post
  /// that holds it. An unused file is readable only
  /// by its uploader.
  func mayRead(_ stored: KeptFile, _ caller: Caller) throws(Refusal) -> Bool {
    let file = stored.file
    if file.isPublic { return true }
    if stored.isUnused {
      guard file.owner == caller.user else { return false }
      guard let token = caller.limitedToken else { return true }
      return try isSent(file.id, by: token)
    }
    for message in try messages(with: file.id, limit: Self.maxMessages) {
      do throws(Refusal) {
        _ = try self.message(message, for: caller)
        return true
      } catch .notFound { continue }
    }
    if try isAvatar(file.id) { return true }
    if try isCover(file.id) { return true }
    if try isCustomEmoji(file.id) { return true }
    if try settings().icon == file.id { return true }
    for forum in try forums(withIcon: file.id, limit: Self.maxForums) {
      guard let standing = try standing(of: caller, in: forum) else { continue }
      if Permissions.rights(of: caller.role, in: standing).contains(.see) { return true }
    }
    guard let user = caller.user, caller.forums == nil else { return false }
    for id in try reports(holding: file.id, limit: Self.maxForums) {
      if file.owner == user { return true }
      if let report = try report(id), try mayHandle(report, user, caller.role) { return true }
    }
    return false
  }

  /// Whether the caller may attach these files: own ones, and by a token limited to forums only those that it may read.
  func mayAttach(_ files: [ID<File>], _ caller: Caller) throws(Refusal) -> Bool {
    guard let user = caller.user, try owns(files, user) else { return false }
    guard caller.forums != nil else { return true }
    for file in files {
      guard let stored = try keptFile(file), try mayRead(stored, caller) else { return false }
    }
    return true
  }

  func hasValidSession(_ caller: Caller) throws(Refusal) -> Bool {
    guard let session = caller.session else { return try reloadCaller(caller).user != nil }
    guard let known = try activeSession(session) else { return false }
    return known.user == caller.user && known.scope >= .write
  }

  func checkSession(_ caller: Caller) throws(Refusal) {
    guard try hasValidSession(caller) else { throw .unauthenticated }
  }

  /// The quota of the caller and of the site. Guests and new users may store less.
  func quota(of caller: Caller, _ bounds: Bounds) throws(Refusal) -> FileQuota {
    let isLimited =
      switch caller.role {
      case .guest: true
      case .member: try caller.user.flatMap { user throws(Refusal) in try newcomer(user) }?.isNew(at: now) ?? false
      case nil, .owner, .admin, .moderator, .bot: false
      }
    let limit = isLimited ? min(bounds.guestFileBytes, bounds.userFileBytes) : bounds.userFileBytes
    return FileQuota(user: limit, site: bounds.siteFileBytes)
  }

  /// The remaining bytes of the user and of the site.
  fileprivate func room(of owner: ID<User>, _ room: FileQuota) throws(Refusal) -> (user: Int, site: Int) {
    (room.user - (try fileUse(of: owner)), room.site - (try fileUse(of: nil)))
  }

  /// Checks that a file can be used as a picture: the caller may attach it, its type is a picture, and its size is allowed.
  func checkPicture(_ id: ID<File>, _ field: String, by caller: Caller, _ bounds: Bounds) throws(Refusal) {
    guard try mayAttach([id], caller), let stored = try keptFile(id) else { throw .invalid(field, .unknown) }
    guard FileFormat(rawValue: stored.file.mimeType)?.isPicture == true else { throw .invalid(field, .mismatch) }
    guard stored.file.size <= bounds.pictureBytes else {
      throw .invalid(field, .tooLong(limit: bounds.pictureBytes))
    }
    // An unknown size may be any size.
    guard let width = stored.file.width, let height = stored.file.height else { throw .invalid(field, .mismatch) }
    guard max(width, height) <= bounds.pictureSide else { throw .invalid(field, .tooLong(limit: bounds.pictureSide)) }
  }

  /// The same for a custom emoji, which is smaller and of a format that all clients show.
  func checkEmojiPicture(_ id: ID<File>, _ field: String, by caller: Caller, _ bounds: Bounds) throws(Refusal) {
    var small = bounds
    small.pictureBytes = bounds.emojiBytes
    small.pictureSide = bounds.emojiSide
    try checkPicture(id, field, by: caller, small)
    let formats: [FileFormat] = [.png, .gif, .webp]
    guard let mimeType = try keptFile(id)?.file.mimeType, formats.contains(where: { $0.rawValue == mimeType }) else {
      throw .invalid(field, .mismatch)
    }
  }
}

extension WriteTransaction {
  /// Creates the row, or returns the file that an earlier request with the same `client_id` created.
  func make(_ file: NewFile, by caller: Caller, in room: FileQuota) throws(Refusal) -> CreatedFile {
    try checkSession(caller)
    if let clientID = file.draft.clientID, let earlier = try remembered(.file, by: file.owner, clientID) {
      guard earlier.fingerprint == file.content.digest else { throw .clientIDReused }
      if let stored = try keptFile(ID(earlier.subject)) { return CreatedFile(file: stored.file, isNew: false) }
      // The unused file was removed after a day: the same content makes it again.
      try forget(.file, by: file.owner, clientID)
    }
    let created = try add(file, by: caller.limitedToken, in: room)
    if let clientID = file.draft.clientID {
      try remember(.file, by: file.owner, clientID, subject: created.id.number, fingerprint: file.content.digest)
    }
    return CreatedFile(file: created, isNew: true)
  }
}

extension FileIntake {
  /// Checks that the preview is a displayable picture within its limits.
  func finishedPreview(_ bounds: Bounds) async throws(Refusal) -> NewPreview {
    let taken = try await finish { format, size throws(Refusal) in
      guard format.isPicture, let size else { throw .invalid("preview", .invalid) }
      guard max(size.width, size.height) <= bounds.previewSide else {
        throw .invalid("preview", .tooLong(limit: bounds.previewSide))
      }
    }
    guard let size = taken.size else { throw .unavailable }
    return NewPreview(taken.content, mimeType: taken.format.mimeType, width: size.width, height: size.height)
  }
}

extension FileDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> FileDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.name = try Texts.label(name, "name", scalars: bounds.fileNameScalars) }
    check { () throws(Refusal) in if let type, !TypeName.isWellFormed(type) { throw .invalid("type", .invalid) } }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}
