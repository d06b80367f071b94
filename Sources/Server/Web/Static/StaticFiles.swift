// Serves the files of a folder. A file that was checked within the last second is served without a system call. Small
// files are cached in memory; large files are sent by the kernel from the page cache.
//
//     path ──▶ in memory? ──▶ open beneath the folder ──▶ stamp unchanged? ──▶ read, gzip, hash the content
//                  └────────────────────┬────────────────────────┘                    │
//                         plain or gzip ▼  304 · 412 · 206 · 416 · 200 ◀──────────────┘

import ParleyWire

public final class StaticFiles: Sendable {
  private let folder: PublicFolder
  private let cache: FileCache
  private let random: @Sendable () -> UInt64

  /// Maximum size of a file cached in memory.
  public static let maxInMemoryBytes = 256 << 10
  /// Memory budget of the cache.
  public static let memoryBudget = 16 << 20

  private static let methods = "GET, HEAD, OPTIONS"

  /// Returns nil if the folder does not exist. `random` generates multipart boundaries.
  public init?(
    _ path: String, memory: Int = StaticFiles.memoryBudget,
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) {
    folder = PublicFolder(path: path)
    cache = FileCache(budget: memory)
    self.random = random
    guard folder.exists else { return nil }
  }

  /// Bytes in the cache.
  public var memory: Int { cache.bytes }

  /// The handler, used as the fallback of an `Application`.
  @Sendable
  public func respond(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    guard let file = try find(request.path, now: context.now) else { return try redirect(request) }
    switch request.method {
    case .get, .head: return try send(file, request, now: context.now)
    case .options: return Response(.noContent, fields: ["Allow": Self.methods])
    case .post, .put, .patch, .delete, .other: throw .methodNotAllowed(Self.methods)
    }
  }

  // MARK: Lookup

  private func find(_ path: String, now: Int64) throws(Problem) -> StaticFile? {
    if let file = cache.fresh(path, now: now) { return file }
    guard let name = FileName(path) else { return nil }
    if name.path != path, let file = cache.fresh(name.path, now: now) { return file }
    return try load(name, now: now)
  }

  private func load(_ name: FileName, now: Int64) throws(Problem) -> StaticFile? {
    guard let plain = try folder.file(name.parts) else {
      cache.remove(name.path)
      return nil
    }
    let gzip = try precompressed(name, newerThan: plain)
    let stamps = StaticFile.Stamps(plain: plain.stamp, gzip: gzip?.stamp)
    if let cached = cache.cached(name.path), cached.stamps == stamps, stamps.areSettled(at: cached.readAt) {
      cache.store(cached, as: name.path, now: now)
      return cached
    }
    let file = try StaticFile(plain, gzip: gzip, name, now: now)
    cache.store(file, as: name.path, now: now)
    return file
  }

  /// Returns `app.js.gz` for `app.js`, unless it is older than the file (stale) or larger.
  private func precompressed(_ name: FileName, newerThan plain: OpenFile) throws(Problem) -> OpenFile? {
    guard name.type.isCompressible, let file = try folder.file(name.gzipParts) else { return nil }
    guard file.size <= max(plain.size, Application.minCompressedBytes) else { return nil }
    return file.stamp.modified >= plain.stamp.modified ? file : nil
  }

  /// Redirects a folder to its URL with a trailing slash, so that relative links of its page resolve. Location is
  /// relative, so neither Host nor a leading `//` can redirect to another site.
  private func redirect(_ request: Request) throws(Problem) -> Response {
    let target = request.head.target
    guard request.method == .get || request.method == .head, !target.path.hasSuffix("/"),
      let name = FileName(target.path + "/"), try folder.file(name.parts) != nil,
      let last = target.path.split(separator: "/").last
    else { throw .notFound }
    return .redirect(.movedPermanently, to: "./\(last)/\(target.query.map { "?\($0)" } ?? "")")
  }

  // MARK: Sending

  private func send(_ file: StaticFile, _ request: Request, now: Int64) throws(Problem) -> Response {
    // Ranges apply to the identity coding: its parts are usable alone.
    let representation = FileRepresentation.asksForRange(request) ? file.plain : file.form(for: request.fields)
    return try representation.respond(
      to: request, modified: file.modified, type: file.type, now: now, boundary: boundary)
  }

  /// Random: an author that could predict it could upload a file that parses as several parts.
  private var boundary: String {
    String(random(), radix: 16) + String(random(), radix: 16)
  }
}
