// Receives the bytes of a file: detects the type from the first bytes, strips private metadata from pictures and writes
// to disk as the bytes arrive.

import Media
public import ParleyModel
import Storage

/// A file being received. Confined to one event loop; disk writes run elsewhere.
public final class FileIntake {
  private let writer: BlobWriter
  private let reservation: UploadQuota.Reservation
  private let limit: Int
  private let cutsMetadata: Bool
  private let maxPixels: Int
  /// The first bytes, until the type is detected.
  private var header: [UInt8] = []
  private var format: FileFormat?
  private var filter: PictureFilter?
  private var pictureSize: PixelSize?
  private var received = 0

  init(_ writer: BlobWriter, _ reservation: UploadQuota.Reservation, limit: Int, cutsMetadata: Bool, maxPixels: Int) {
    self.writer = writer
    self.reservation = reservation
    self.limit = limit
    self.cutsMetadata = cutsMetadata
    self.maxPixels = maxPixels
  }

  public func receive(_ chunk: [UInt8]) async throws(Refusal) {
    received += chunk.count
    guard received <= limit else { throw .tooLarge(limit: limit) }
    try reservation.add(chunk.count)
    guard format == nil else { return try await write(chunk) }
    header += chunk
    if header.count >= FileFormat.bytesToSniff { try await detectFormat() }
  }

  /// Completes the file on disk; the caller adds a row that references it. Content refused by `check` is discarded.
  func finish(
    _ check: (FileFormat, PixelSize?) throws(Refusal) -> Void = { _, _ in }
  ) async throws(Refusal) -> ReceivedContent {
    if format == nil { try await detectFormat() }
    var size = pictureSize
    if let filter { size = try Self.checked { () throws(PictureFilter.Malformed) in try filter.finish() } }
    guard let format else { throw .unavailable }
    if format == .tiff, cutsMetadata { try await blankMetadata() }
    try check(format, size)
    return ReceivedContent(try await writer.finish(), format, size, maxPixels: maxPixels)
  }

  /// The directories of a TIFF may be anywhere, so it is changed on the disk when it is complete.
  private func blankMetadata() async throws(Refusal) {
    var scan = TIFFScan(size: received)
    while let range = scan.wanted {
      let bytes = try await writer.read(range)
      try Self.checked { () throws(PictureFilter.Malformed) in try scan.take(bytes) }
    }
    if !scan.privateRanges.isEmpty { try await writer.blank(scan.privateRanges) }
  }

  /// Discards an incomplete file.
  public func discard() async { await writer.discard() }

  private func detectFormat() async throws(Refusal) {
    let start = Array(header.prefix(FileFormat.bytesToSniff))
    let found = FileFormat.sniff(start.span)
    format = found
    filter = PictureFilter(found)
    pictureSize = PixelSize(found, firstBytes: header.span)
    let bytes = header
    header = []
    try await write(bytes)
  }

  private func write(_ chunk: [UInt8]) async throws(Refusal) {
    guard var filter else { return try await writer.append(chunk) }
    // If metadata may stay, the filter only reads the picture's dimensions.
    let filtered = try Self.checked { () throws(PictureFilter.Malformed) in try filter.take(chunk) }
    self.filter = filter
    try await writer.append(cutsMetadata ? filtered : chunk)
  }

  private static func checked<Value>(_ body: () throws(PictureFilter.Malformed) -> Value) throws(Refusal) -> Value {
    do throws(PictureFilter.Malformed) { return try body() } catch { throw .invalid("file", .invalid) }
  }
}

/// Received content and its type.
struct ReceivedContent {
  let content: StoredContent
  let format: FileFormat
  let size: PixelSize?

  /// An image of more than `maxPixels` becomes a file of unknown format, as does one of unknown size that a browser would
  /// display.
  init(_ content: StoredContent, _ format: FileFormat, _ size: PixelSize?, maxPixels: Int) {
    let isTooLarge = size.map { $0.area > maxPixels } ?? (format.kind == .image && format.isShownInline)
    self.content = content
    self.format = isTooLarge ? .unknown : format
    self.size = isTooLarge ? nil : size
  }
}
