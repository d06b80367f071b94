// Large files that come in parts: each part goes on where the one before has ended, over however many connections.

import Media
public import ParleyModel
import Storage

extension Community {
  public func startUpload(_ draft: FileDraft, size: Int, by caller: Caller) async throws(Refusal) -> Upload {
    let owner = try caller.person(for: .write)
    let draft = try draft.checked(bounds)
    guard size <= bounds.fileBytes else { throw .tooLarge(limit: bounds.fileBytes) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      _ = try tx.renewed(caller)
      let others = try tx.uploadsUnderWay(of: owner)
      guard others.count < bounds.uploads else { throw .tooMany(limit: bounds.uploads) }
      // All that was begun will have room, or it would come for nothing.
      guard try tx.fileUse(of: owner) + others.bytes + size <= bounds.personFileBytes else {
        throw .noRoom(limit: bounds.personFileBytes)
      }
      guard try tx.fileUse(of: nil) + others.bytes + size <= bounds.placeFileBytes else {
        throw .noRoom(limit: bounds.placeFileBytes)
      }
      return try tx.addUpload(draft, size: size, by: owner)
    }
  }

  /// With as much of it as has come by now.
  public func upload(_ id: ID<Upload>, for caller: Caller, _ view: CommunityView) async throws(Refusal) -> Upload {
    var upload = try view.upload(id, for: caller)
    upload.offset = await store.blobs.part(of: id, received: upload.offset).size
    return upload
  }

  /// Begins to go on with one at `offset`; a conflict where it goes on elsewhere.
  public func resume(
    _ id: ID<Upload>, at offset: Int, by caller: Caller, _ view: CommunityView
  ) async throws(Refusal) -> UploadTurn {
    _ = try caller.person(for: .write)
    let upload = try view.upload(id, for: caller)
    let part = store.blobs.part(of: id, received: upload.offset)
    guard let turn = try await part.begin(at: offset) else { throw .conflict }
    return UploadTurn(upload, part, turn, offset, self)
  }

  public func deleteUpload(_ id: ID<Upload>, by caller: Caller) async throws(Refusal) {
    let owner = try caller.person(for: .write)
    let isThere = try await store.write { tx throws(Refusal) in
      _ = try tx.renewed(caller)
      guard let upload = try tx.upload(id), upload.owner == owner else { return false }
      try tx.removeUpload(id)
      return true
    }
    guard isThere else { return }
    await store.blobs.end(id)
  }

  /// The last part has come.
  fileprivate func finish(_ upload: Upload, _ part: PartFile, by caller: Caller) async throws(Refusal) -> MadeFile {
    let taken = try await content(of: part, upload)
    let file = NewFile(
      owner: upload.owner, upload.draft, taken.content, kind: taken.format.kind.rawValue,
      mimeType: taken.format.mimeType, width: taken.size?.width, height: taken.size?.height)
    let room = room
    let made = try await store.write { tx throws(Refusal) in
      guard try tx.upload(upload.id) != nil else { throw .notFound }
      let made = try tx.make(file, by: caller, in: room)
      try tx.removeUpload(upload.id)
      return made
    }
    await store.blobs.end(upload.id)
    return made
  }

  /// Pictures are written once more, without what nobody has to know; all else is taken as it lies there.
  private func content(of part: PartFile, _ upload: Upload) async throws(Refusal) -> TakenContent {
    let first = try await part.read(from: 0, FileFormat.bytesToSniff)
    let format = FileFormat.sniff(first.span)
    guard PictureFilter(format) != nil else {
      let size = PixelSize(format, firstBytes: first.span)
      return TakenContent(content: try await part.finish(), format: format, size: size)
    }
    let cutsMetadata = try await store.readInBackground { tx throws(Refusal) in try tx.settings().cutsMetadata }
    // It has come already, and was counted when it began.
    let share = uploadRoom.share(for: upload.owner, (Int.max, Int.max))
    let intake = FileIntake(store.blobs.writer(), share, limit: upload.size, cutsMetadata: cutsMetadata)
    var offset = 0
    while offset < upload.size {
      let piece = try await part.read(from: offset, 1 << 20)
      guard !piece.isEmpty else { throw .unavailable }
      offset += piece.count
      try await intake.take(piece)
    }
    return try await intake.finish()
  }
}

/// Somebody sends a part.
public final class UploadTurn {
  private let upload: Upload
  private let part: PartFile
  private let turn: Int
  private let community: Community
  private var offset: Int
  private var noted: Int

  /// How often it is noted how much is there for certain, in bytes.
  private static let noteEvery = 64 << 20

  fileprivate init(_ upload: Upload, _ part: PartFile, _ turn: Int, _ offset: Int, _ community: Community) {
    self.upload = upload
    self.part = part
    self.turn = turn
    self.offset = offset
    self.community = community
    noted = offset
  }

  public func take(_ piece: [UInt8]) async throws(Refusal) {
    guard offset + piece.count <= upload.size else { throw .tooLarge(limit: upload.size) }
    guard try await part.append(piece, in: turn) else { throw .conflict }
    offset += piece.count
  }

  /// Nothing more comes with this part: how much is there, and the file if that is all.
  public func end(by caller: Caller) async throws(Refusal) -> (upload: Upload, file: MadeFile?) {
    guard let size = try await part.rest(turn) else { throw .conflict }
    var upload = upload
    upload.offset = size
    let id = upload.id
    try await community.store.write { tx throws(Refusal) in
      try tx.checkStillIn(caller)
      guard try tx.upload(id) != nil else { throw .notFound }
      try tx.note(size, of: id)
    }
    guard size == upload.size else { return (upload, nil) }
    return (upload, try await community.finish(upload, part, by: caller))
  }

  /// The connection broke: what came is kept.
  public func breakOff() async {
    do throws(Refusal) {
      guard let size = try await part.rest(turn) else { return }
      let id = upload.id
      try await community.store.write { tx throws(Refusal) in try tx.note(size, of: id) }
    } catch { return }
  }
}

extension CommunityView {
  fileprivate func upload(_ id: ID<Upload>, for caller: Caller) throws(Refusal) -> Upload {
    let owner = try caller.person()
    return try read { tx throws(Refusal) in
      guard let upload = try tx.upload(id), upload.owner == owner else { throw .notFound }
      return upload
    }
  }
}
