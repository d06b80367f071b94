// Files: uploading them, and who may read them.

import Media
import ParleyCrypto
public import ParleyModel
import Storage

/// A file that was sent.
public struct MadeFile: Sendable {
  public let file: File
  /// False when the same request had made it before.
  public let isNew: Bool
}

extension Community {
  var room: FileRoom { FileRoom(person: bounds.personFileBytes, place: bounds.placeFileBytes) }

  /// For content that comes in.
  ///
  /// - Parameter announced: how much will come, where it is known: what there is no room for is refused before it is sent.
  public func intake(
    for caller: Caller, announced: Int?, limit: Int? = nil, _ view: CommunityView
  ) throws(Refusal) -> FileIntake {
    let owner = try caller.person(for: .write)
    let limit = limit ?? bounds.fileBytes
    if let announced, announced > limit + Self.mostAroundFile { throw .tooLarge(limit: limit) }
    let (settings, left) = try view.read { tx throws(Refusal) in
      _ = try tx.renewed(caller)
      return (try tx.settings(), try tx.room(of: owner, self.room))
    }
    let share = uploadRoom.share(for: owner, left)
    if let announced, announced - Self.mostAroundFile > left.person { throw .noRoom(limit: bounds.personFileBytes) }
    return FileIntake(store.blobs.writer(), share, limit: limit, cutsMetadata: settings.cutsMetadata)
  }

  /// What a form may have around its file, in bytes.
  public static let mostAroundFile = 65_536

  /// Makes a file of what has come.
  public func makeFile(
    _ draft: FileDraft, of intake: FileIntake, preview: FileIntake? = nil, by caller: Caller
  ) async throws(Refusal) -> MadeFile {
    let owner = try caller.person(for: .write)
    let draft = try draft.checked(bounds)
    let small = try await preview?.finishedPreview(bounds)
    let taken = try await intake.finish()
    let file = NewFile(
      owner: owner, draft, taken.content, kind: taken.format.kind.rawValue, mimeType: taken.format.mimeType,
      width: taken.size?.width, height: taken.size?.height, preview: small)
    let room = room
    return try await store.write { tx throws(Refusal) in try tx.make(file, by: caller, in: room) }
  }

  /// In the place of the one before; by who uploaded the file.
  public func setPreview(_ preview: FileIntake, of id: ID<File>, by caller: Caller) async throws(Refusal) -> File {
    let owner = try caller.person(for: .write)
    let small = try await preview.finishedPreview(bounds)
    let room = room
    return try await store.write { tx throws(Refusal) in
      try tx.checkStillIn(caller)
      let kept = try tx.file(id, for: caller)
      guard kept.file.owner == owner else { throw .forbidden }
      return try tx.setPreview(small, of: kept, in: room)
    }
  }

  /// By who uploaded it, as long as nothing shows it.
  public func delete(_ id: ID<File>, by caller: Caller) async throws(Refusal) {
    let owner = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      guard let kept = try tx.keptFile(id), kept.file.owner == owner else {
        // Gone already is as good; another's is forbidden to those who see it.
        if try tx.keptFile(id) == nil { return }
        _ = try tx.file(id, for: caller)
        throw .forbidden
      }
      guard kept.isUnused else { throw .conflict }
      try tx.remove(kept)
    }
  }
}

extension Community {
  /// Where the bytes are.
  public func path(ofContent digest: [UInt8]) -> String { store.blobs.path(of: digest) }

  /// Whether a browser may show it where it was asked for.
  public func isShownInline(_ mimeType: String) -> Bool { FileFormat(rawValue: mimeType)?.isShownInline ?? false }
}

extension CommunityView {
  public func file(_ id: ID<File>, for caller: Caller) throws(Refusal) -> KeptFile {
    try read { tx throws(Refusal) in try tx.file(id, for: caller) }
  }

  /// Those of them that the caller may read, in the order asked for.
  public func files(_ ids: [ID<File>], for caller: Caller) throws(Refusal) -> [File] {
    guard ids.count <= community.bounds.filesAtOnce else {
      throw .invalid("ids", .tooMany(limit: community.bounds.filesAtOnce))
    }
    return try read { tx throws(Refusal) in
      var found: [File] = []
      for id in ids {
        guard let kept = try tx.keptFile(id), try tx.mayRead(kept, caller) else { continue }
        found.append(kept.file)
      }
      return found
    }
  }

  /// The caller's own, the newest first: one more than `limit`, where there are more.
  public func ownFiles(before: ID<File>?, limit: Int, for caller: Caller) throws(Refusal) -> [File] {
    let owner = try caller.person()
    return try read { tx throws(Refusal) in try tx.files(of: owner, before: before, limit: limit + 1) }
  }

  /// Whether the way in by which somebody came is still open; asked while they send much.
  public func isStillIn(_ caller: Caller) throws(Refusal) -> Bool {
    try read { tx throws(Refusal) in try tx.isStillIn(caller) }
  }
}

extension ReadTransaction {
  /// Among how many messages that have a file one is looked for that the caller may read.
  private static let mostMessages = 100
  private static let mostForums = 20

  /// One that the caller may not read is not there.
  func file(_ id: ID<File>, for caller: Caller) throws(Refusal) -> KeptFile {
    guard let kept = try keptFile(id), try mayRead(kept, caller) else { throw .notFound }
    return kept
  }

  /// A file is as open as what shows it; as long as nothing does, it is its sender's.
  func mayRead(_ kept: KeptFile, _ caller: Caller) throws(Refusal) -> Bool {
    let file = kept.file
    if file.isPublic { return true }
    if kept.isUnused { return file.owner == caller.account }
    for message in try messages(with: file.id, limit: Self.mostMessages) {
      do throws(Refusal) {
        _ = try self.message(message, for: caller)
        return true
      } catch .notFound { continue }
    }
    if try isAvatar(file.id) { return true }
    if try settings().icon == file.id { return true }
    for forum in try forums(withIcon: file.id, limit: Self.mostForums) {
      guard let standing = try standing(of: caller.account, in: forum) else { continue }
      if Permissions.rights(of: caller.role, in: standing).contains(.see) { return true }
    }
    return false
  }

  func isStillIn(_ caller: Caller) throws(Refusal) -> Bool {
    guard let session = caller.session else { return try renewed(caller).account != nil }
    guard let known = try openSession(session) else { return false }
    return known.account == caller.account && known.scope >= .write
  }

  func checkStillIn(_ caller: Caller) throws(Refusal) {
    guard try isStillIn(caller) else { throw .unauthenticated }
  }

  /// How many bytes more somebody may send, and everyone.
  fileprivate func room(of owner: ID<Account>, _ room: FileRoom) throws(Refusal) -> (person: Int, place: Int) {
    (room.person - (try fileUse(of: owner)), room.place - (try fileUse(of: nil)))
  }

  /// Whether a file can stand for somebody or something: one's own, a picture, and not too large.
  func checkPicture(_ id: ID<File>, _ field: String, of owner: ID<Account>, _ bounds: Bounds) throws(Refusal) {
    guard let kept = try keptFile(id), kept.file.owner == owner else { throw .invalid(field, .unknown) }
    guard FileFormat(rawValue: kept.file.mimeType)?.isPicture == true else { throw .invalid(field, .mismatch) }
    guard kept.file.size <= bounds.pictureBytes else {
      throw .invalid(field, .tooLong(limit: bounds.pictureBytes))
    }
  }
}

extension WriteTransaction {
  /// The row, or what the same request made before.
  func make(_ file: NewFile, by caller: Caller, in room: FileRoom) throws(Refusal) -> MadeFile {
    try checkStillIn(caller)
    if let clientID = file.draft.clientID, let earlier = try remembered(.file, by: file.owner, clientID) {
      guard earlier.fingerprint == file.content.digest else { throw .clientIDReused }
      guard let kept = try keptFile(ID(earlier.subject)) else { throw .gone }
      return MadeFile(file: kept.file, isNew: false)
    }
    let made = try add(file, in: room)
    if let clientID = file.draft.clientID {
      try remember(.file, by: file.owner, clientID, subject: made.id.number, fingerprint: file.content.digest)
    }
    return MadeFile(file: made, isNew: true)
  }
}

extension FileIntake {
  /// A picture that browsers show, within its bounds.
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

extension FileDraft {
  func checked(_ bounds: Bounds) throws(Refusal) -> FileDraft {
    var checked = self
    checked.name = try Texts.label(name, "name", scalars: bounds.fileNameScalars)
    if let type, !TypeName.isWellFormed(type) { throw .invalid("type", .invalid) }
    if let clientID { try Texts.checkClientID(clientID, bounds) }
    return checked
  }
}
