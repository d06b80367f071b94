// Serves the files of a folder. A request for a file that was asked for within the last second makes no system call:
// small files are kept in memory, ready to be sent; large ones are sent by the system from its own cache.
//
//     path ──▶ in memory? ──▶ open beneath the folder ──▶ same as before? ──▶ read, gzip, name by its content
//                  └────────────────────┬───────────────────────┘                     │
//                         plain or gzip ▼  304 · 412 · 206 · 416 · 200 ◀──────────────┘

import ParleyWire

public final class StaticFiles: Sendable {
  private let folder: PublicFolder
  private let cache: FileCache
  private let random: @Sendable () -> UInt64

  /// The largest file that is kept in memory.
  public static let maxInMemoryBytes = 256 << 10
  /// How much memory all of them may take together.
  public static let memoryBudget = 16 << 20

  private static let methods = "GET, HEAD, OPTIONS"

  /// Nil when there is no such folder. `random` makes the boundaries between several ranges.
  public init?(
    _ path: String, memory: Int = StaticFiles.memoryBudget,
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) {
    folder = PublicFolder(path: path)
    cache = FileCache(budget: memory)
    self.random = random
    guard folder.exists else { return nil }
  }

  /// Bytes that are kept in memory now.
  public var memory: Int { cache.bytes }

  /// The handler: made to be a `Application`'s fallback.
  @Sendable
  public func respond(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    guard let file = try find(request.path, now: context.now) else { return try redirect(request) }
    switch request.method {
    case .get, .head: return try send(file, request, now: context.now)
    case .options: return Response(.noContent, fields: ["Allow": Self.methods])
    case .post, .put, .patch, .delete, .other: throw .methodNotAllowed(Self.methods)
    }
  }

  // MARK: Finding

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

  /// `app.js.gz` beside `app.js`. One that is older holds what the file was; one that is larger helps nobody.
  private func precompressed(_ name: FileName, newerThan plain: OpenFile) throws(Problem) -> OpenFile? {
    guard name.type.isCompressible, let file = try folder.file(name.gzipParts) else { return nil }
    guard file.size <= max(plain.size, Application.minCompressedBytes) else { return nil }
    return file.stamp.modified >= plain.stamp.modified ? file : nil
  }

  /// A folder is asked for with a slash at the end, or else its page's own addresses would lead astray. The new place
  /// is told relative to the old one, so that no Host and no `//` in front can lead to another site.
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
    // Ranges are of the plain form, whose bytes mean something by themselves.
    let representation = FileRepresentation.asksForRange(request) ? file.plain : file.form(for: request.fields)
    return try representation.respond(to: request, modified: file.modified, type: file.type, now: now, boundary: boundary)
  }

  /// Who could guess it could write a file that looks like several.
  private var boundary: String {
    String(random(), radix: 16) + String(random(), radix: 16)
  }
}
