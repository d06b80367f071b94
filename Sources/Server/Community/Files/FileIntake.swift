// Bytes become a file: what they are is told by the first of them, pictures lose what nobody has to know, and all goes to the
// disk as it comes.

import Media
public import ParleyModel
import Storage

/// Content that comes in piece by piece. It belongs to one loop; the disk is written to elsewhere.
public final class FileIntake {
  private let writer: BlobWriter
  private let share: UploadRoom.Share
  private let limit: Int
  private let cutsMetadata: Bool
  /// What has come before it is known what it is.
  private var first: [UInt8] = []
  private var format: FileFormat?
  private var filter: PictureFilter?
  private var firstSize: PixelSize?
  private var received = 0

  init(_ writer: BlobWriter, _ share: UploadRoom.Share, limit: Int, cutsMetadata: Bool) {
    self.writer = writer
    self.share = share
    self.limit = limit
    self.cutsMetadata = cutsMetadata
  }

  public func take(_ piece: [UInt8]) async throws(Refusal) {
    received += piece.count
    guard received <= limit else { throw .tooLarge(limit: limit) }
    try share.take(piece.count)
    guard format == nil else { return try await pass(piece) }
    first += piece
    if first.count >= FileFormat.bytesToSniff { try await begin() }
  }

  /// All has come: it is on the disk, and waits for a row that names it. What `check` refuses is not kept.
  func finish(
    _ check: (FileFormat, PixelSize?) throws(Refusal) -> Void = { _, _ in }
  ) async throws(Refusal) -> TakenContent {
    if format == nil { try await begin() }
    var size = firstSize
    if let filter { size = try Self.checked { () throws(PictureFilter.Malformed) in try filter.finish() } }
    guard let format else { throw .unavailable }
    try check(format, size)
    return TakenContent(content: try await writer.finish(), format: format, size: size)
  }

  /// It will not be finished.
  public func discard() async { await writer.discard() }

  private func begin() async throws(Refusal) {
    let start = Array(first.prefix(FileFormat.bytesToSniff))
    let found = FileFormat.sniff(start.span)
    format = found
    filter = PictureFilter(found)
    firstSize = PixelSize(found, firstBytes: first.span)
    let bytes = first
    first = []
    try await pass(bytes)
  }

  private func pass(_ piece: [UInt8]) async throws(Refusal) {
    guard var filter else { return try await writer.append(piece) }
    // Where metadata is kept the filter only looks how large the picture is.
    let kept = try Self.checked { () throws(PictureFilter.Malformed) in try filter.take(piece) }
    self.filter = filter
    try await writer.append(cutsMetadata ? kept : piece)
  }

  private static func checked<Value>(_ body: () throws(PictureFilter.Malformed) -> Value) throws(Refusal) -> Value {
    do throws(PictureFilter.Malformed) { return try body() } catch { throw .invalid("file", .invalid) }
  }
}

/// What has come, and what it is.
struct TakenContent {
  let content: StoredContent
  let format: FileFormat
  let size: PixelSize?
}
