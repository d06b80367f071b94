// Resumable uploads. Each part continues at the end of the previous one, over any number of connections.

import Media
public import ParleyModel
import Storage

extension Community {
  public func createUpload(_ draft: FileDraft, size: Int, by caller: Caller) async throws(Refusal) -> Upload {
    let owner = try caller.requireUser(.write)
    if store.refusesUploads { throw .diskFull }
    let draft = try draft.checked(bounds)
    guard size <= bounds.fileBytes else { throw .tooLarge(limit: bounds.fileBytes) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let quota = try tx.quota(of: try tx.reloadCaller(caller), bounds)
      let others = try tx.openUploads(of: owner)
      guard others.count < bounds.uploads else { throw .tooMany(limit: bounds.uploads) }
      // Reserve the space of all started uploads, so that none fails after its transfer.
      guard try tx.fileUse(of: owner) + others.bytes + size <= quota.user else {
        throw .noRoom(limit: quota.user)
      }
      guard try tx.fileUse(of: nil) + others.bytes + size <= quota.site else {
        throw .noRoom(limit: quota.site)
      }
      return try tx.addUpload(draft, size: size, by: owner, caller.limitedToken)
    }
  }

  /// The upload with its current offset.
  public func getUpload(_ id: ID<Upload>, for caller: Caller, _ view: CommunityView) async throws(Refusal) -> Upload {
    var upload = try view.upload(id, for: caller)
    upload.offset = await store.blobs.part(of: id, received: upload.offset).size
    return upload
  }

  /// Resumes an upload at `offset`. Throws `conflict` while another connection sends.
  public func appendToUpload(
    _ id: ID<Upload>, at offset: Int, by caller: Caller, _ view: CommunityView
  ) async throws(Refusal) -> UploadRequest {
    _ = try caller.requireUser(.write)
    if store.refusesUploads { throw .diskFull }
    let upload = try view.upload(id, for: caller)
    let part = store.blobs.part(of: id, received: upload.offset)
    guard let turn = try await part.begin(at: offset) else { throw .conflict }
    return UploadRequest(upload, part, turn, offset, self)
  }

  public func cancelUpload(_ id: ID<Upload>, by caller: Caller) async throws(Refusal) {
    _ = try caller.requireUser(.write)
    let isThere = try await store.write { tx throws(Refusal) in
      guard try tx.upload(id, for: tx.reloadCaller(caller)) != nil else { return false }
      try tx.removeUpload(id)
      return true
    }
    guard isThere else { return }
    await store.blobs.discard(id)
  }

  /// Called after the last part.
  fileprivate func finish(_ upload: Upload, _ part: PartFile, by caller: Caller) async throws(Refusal) -> CreatedFile {
    let taken = try await content(of: part, upload)
    let file = NewFile(
      owner: upload.owner, upload.draft, taken.content, kind: taken.format.kind.rawValue,
      mimeType: taken.format.mimeType, width: taken.size?.width, height: taken.size?.height)
    let created = try await store.write { [bounds] tx throws(Refusal) in
      guard try tx.upload(upload.id) != nil else { throw .notFound }
      let created = try tx.make(file, by: caller, in: try tx.quota(of: caller, bounds))
      try tx.removeUpload(upload.id)
      return created
    }
    await store.blobs.discard(upload.id)
    return created
  }

  /// Pictures are rewritten without private metadata. Other content is used as it is.
  private func content(of part: PartFile, _ upload: Upload) async throws(Refusal) -> ReceivedContent {
    let first = try await part.read(from: 0, FileFormat.bytesToSniff)
    let format = FileFormat.sniff(first.span)
    guard PictureFilter(format) != nil || format == .tiff else {
      let size = PixelSize(format, firstBytes: first.span)
      return ReceivedContent(try await part.finish(), format, size, maxPixels: bounds.imagePixels)
    }
    let cutsMetadata = try await store.readInBackground { tx throws(Refusal) in try tx.settings().cutsMetadata }
    // The bytes are already counted in the upload.
    let reservation = uploadQuota.reserve(for: upload.owner, (Int.max, Int.max))
    let intake = FileIntake(
      store.blobs.writer(), reservation, limit: upload.size, cutsMetadata: cutsMetadata,
      maxPixels: bounds.imagePixels)
    var offset = 0
    while offset < upload.size {
      let piece = try await part.read(from: offset, 1 << 20)
      guard !piece.isEmpty else { throw .unavailable }
      offset += piece.count
      try await intake.receive(piece)
    }
    return try await intake.finish()
  }
}

/// One request that sends a part.
public final class UploadRequest {
  private let upload: Upload
  private let part: PartFile
  private let turn: Int
  private let community: Community
  private var offset: Int

  fileprivate init(_ upload: Upload, _ part: PartFile, _ turn: Int, _ offset: Int, _ community: Community) {
    self.upload = upload
    self.part = part
    self.turn = turn
    self.offset = offset
    self.community = community
  }

  public func receive(_ piece: [UInt8]) async throws(Refusal) {
    guard offset + piece.count <= upload.size else { throw .tooLarge(limit: upload.size) }
    guard try await part.append(piece, in: turn) else { throw .conflict }
    offset += piece.count
  }

  /// Ends the part. Returns the upload, and the file if it is complete.
  public func end(by caller: Caller) async throws(Refusal) -> (upload: Upload, file: CreatedFile?) {
    guard let size = try await part.suspend(turn) else { throw .conflict }
    var upload = upload
    upload.offset = size
    let id = upload.id
    try await community.store.write { tx throws(Refusal) in
      try tx.checkSession(caller)
      guard try tx.upload(id) != nil else { throw .notFound }
      try tx.recordReceived(size, of: id)
    }
    guard size == upload.size else { return (upload, nil) }
    return (upload, try await community.finish(upload, part, by: caller))
  }

  /// The connection was closed. The received bytes are kept.
  public func suspend() async {
    do throws(Refusal) {
      guard let size = try await part.suspend(turn) else { return }
      let id = upload.id
      try await community.store.write { tx throws(Refusal) in try tx.recordReceived(size, of: id) }
    } catch { return }
  }
}

extension CommunityView {
  fileprivate func upload(_ id: ID<Upload>, for caller: Caller) throws(Refusal) -> Upload {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      guard let upload = try tx.upload(id, for: caller) else { throw .notFound }
      return upload
    }
  }
}

extension ReadTransaction {
  /// The caller's upload. A token limited to forums has only those that it began.
  fileprivate func upload(_ id: ID<Upload>, for caller: Caller) throws(Refusal) -> Upload? {
    guard let upload = try upload(id), upload.owner == caller.user else { return nil }
    guard let token = caller.limitedToken else { return upload }
    return try isSent(id, by: token) ? upload : nil
  }
}
