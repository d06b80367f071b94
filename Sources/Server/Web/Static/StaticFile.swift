import ParleyWire

/// A file of the folder, ready to be sent: plain, and gzipped if that is smaller.
final class StaticFile: Sendable {
  /// Stamps of the file and of its precompressed `.gz`.
  struct Stamps: Sendable, Hashable {
    let plain: FileStamp
    let gzip: FileStamp?

    func areSettled(at now: Int64) -> Bool {
      plain.isSettled(at: now) && gzip?.isSettled(at: now) ?? true
    }
  }

  let type: ContentType
  let plain: FileRepresentation
  let gzip: FileRepresentation?
  let stamps: Stamps
  /// Milliseconds since 1970.
  let readAt: Int64

  /// Reads the file if it is small.
  init(_ file: OpenFile, gzip packed: OpenFile?, _ name: FileName, now: Int64) throws(Problem) {
    let form = FileRepresentation.Builder(name, modified: file.stamp.modified / 1_000_000_000)
    if file.size <= StaticFiles.maxInMemoryBytes {
      let bytes = try Self.content(of: file)
      plain = form(.memory(bytes))
      let packed = if let packed { try Self.content(of: packed) } else { Self.smaller(bytes, name.type) }
      gzip = packed.map { form(.memory($0), coding: "gzip") }
    } else {
      plain = form(.file(file))
      gzip = packed.map { form(.file($0), coding: "gzip") }
    }
    type = name.type
    stamps = Stamps(plain: file.stamp, gzip: packed?.stamp)
    readAt = now
  }

  /// Seconds since 1970.
  var modified: Int { stamps.plain.modified / 1_000_000_000 }

  /// Bytes of memory; nil if the content is not in memory.
  var footprint: Int? {
    guard case .memory(let bytes) = plain.content else { return nil }
    return bytes.count + (gzip?.content.count ?? 0) + 2_048
  }

  func form(for fields: Fields) -> FileRepresentation {
    guard let gzip, Accept.allowsGzip(fields) else { return plain }
    return gzip
  }

  private static func content(of file: OpenFile) throws(Problem) -> [UInt8] {
    if let bytes = file.read(0..<file.size), bytes.count == file.size { return bytes }
    var problem = Problem.unavailable
    problem.cause = "a file could not be read, or was cut while it was"
    throw problem
  }

  /// Returns the gzipped bytes if they are smaller. Not at the highest level, since this blocks an event loop.
  private static func smaller(_ bytes: [UInt8], _ type: ContentType) -> [UInt8]? {
    guard type.isCompressible, bytes.count >= Application.minCompressedBytes else { return nil }
    guard let packed = try? Gzip.compress(bytes, level: 6), packed.count < bytes.count else { return nil }
    return packed
  }
}
