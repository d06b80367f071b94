import ParleyJSON
import ParleyWire

/// A backup of Discourse: its archive, the folder of it, or the dump of its database. Rows come from the `COPY` blocks of
/// `dump.sql`; posts are in no order there, so their places in the file are sorted.
public final class DiscourseExport: ImportSource {
  public let kind = SourceKind.discourse
  private let clock: SourceClock
  private let dump: SourceFile
  /// With the uploads; nil for a dump alone.
  private let folder: SourceFolder?
  /// Kept for its files.
  private let scratch: ScratchFolder?
  private var tables = DiscourseTables()

  private static let dumpName = "dump.sql"

  /// - Parameter scratch: the path of a folder for unpacked files.
  public init(path: String, scratch: String, now: Int64) throws(ImportFault) {
    clock = SourceClock(now: now)
    if SourceFolder.exists(path) {
      let folder = try SourceFolder(path)
      self.folder = folder
      if let dump = try folder.file(Self.dumpName) {
        (self.dump, self.scratch) = (dump, nil)
        return
      }
      guard let packed = try folder.file(Self.dumpName + ".gz") else { throw Self.foreign(path) }
      let space = try ScratchFolder(scratch)
      try space.write(Self.dumpName, try Self.inflated(packed, of: packed))
      (self.dump, self.scratch) = (try SourceFile(path: "\(scratch)/\(Self.dumpName)"), space)
      return
    }
    let file = try SourceFile(path: path)
    guard try file.read(at: 0, 2) == [0x1f, 0x8b] else {
      guard path.hasSuffix(".sql") else { throw Self.foreign(path) }
      (dump, folder, self.scratch) = (file, nil, nil)
      return
    }
    let space = try ScratchFolder(scratch)
    if path.hasSuffix(".sql.gz") {
      try space.write(Self.dumpName, try Self.inflated(file, of: file))
    } else {
      try Self.unpack(file, into: space)
    }
    self.scratch = space
    folder = try SourceFolder(scratch)
    dump = try SourceFile(path: "\(scratch)/\(Self.dumpName)")
  }

  private static func foreign(_ path: String) -> ImportFault {
    ImportFault("\(path) is no backup of Discourse, which is a .tar.gz with dump.sql.gz. Make one with uploads.")
  }

  /// - Parameter archive: the file that was given. A compressed file in it does not expand the limit again.
  private static func inflated(
    _ file: SourceFile, of archive: SourceFile
  ) throws(ImportFault) -> any ByteSource {
    let limit = max(ImportLimits.smallContent, archive.size &* ImportLimits.expansion)
    return try InflatedSource(file.source(), .gzip, limit: limit, of: file.name)
  }

  private static func unpack(_ file: SourceFile, into scratch: ScratchFolder) throws(ImportFault) {
    var archive = TarArchive(try inflated(file, of: file), file.name)
    var hasDump = false
    while let (name, _, content) = try archive.next() {
      if name == dumpName || name == dumpName + ".gz" {
        guard !hasDump else { throw ImportFault("\(file.name) has two dumps. Make a new backup.") }
        hasDump = true
        guard name != dumpName else {
          try scratch.write(dumpName, content)
          continue
        }
        try scratch.write(name, content)
        try scratch.write(dumpName, try inflated(try SourceFile(path: "\(scratch.path)/\(name)"), of: file))
      } else if name.hasPrefix("uploads/"), !name.contains("/optimized/") {
        try scratch.write(name, content)
      }
    }
    guard hasDump else { throw foreign(file.name) }
  }

  // MARK: Overview

  public func overview(_ check: (Int) throws(ImportFault) -> Void) throws(ImportFault) -> SourceOverview {
    var reader = CopyReader(dump.source(), Self.dumpName, tables: DiscourseTables.names)
    tables = DiscourseTables()
    var columns: [String: Int] = [:]
    var table = ""
    var start = reader.offset
    while let item = try reader.next() {
      switch item {
      case .table(let name, let names):
        table = name
        columns = Dictionary(names.enumerated().map { ($1, $0) }) { one, _ in one }
        try tables.begin(name, columns)
      case .row(let values):
        try check(tables.posts.count)
        try tables.add(DiscourseRow(values, columns), of: table, at: start..<reader.offset, clock)
      case .end: break
      }
      start = reader.offset
    }
    guard tables.hasPosts else { throw Self.foreign(dump.name) }
    return try tables.overview { address throws(ImportFault) in try self.hasUpload(address) }
  }

  /// The path of an upload in the backup: `/uploads/default/original/1X/abc.png` is `uploads/default/original/1X/abc.png`.
  private static func path(ofUpload address: String) -> String { String(address.drop { $0 == "/" }) }

  private func hasUpload(_ address: String) throws(ImportFault) -> Bool {
    try folder?.file(Self.path(ofUpload: address)) != nil
  }

  // MARK: Messages

  public func messages(_ receive: (SourceItem) async throws(ImportFault) -> Void) async throws(ImportFault) {
    var finished: String?
    var last: Int64 = 0
    for post in tables.sortedPosts() {
      let topic = String(post.topic)
      if let finished, finished != topic {
        try await receive(.finished([finished]))
        last = 0
      }
      finished = topic
      let row = DiscourseRow(
        try CopyReader.values(
          try dump.read(at: post.offset, post.length), count: tables.postColumns.count, Self.dumpName),
        tables.postColumns)
      let message = try tables.message(row, post, after: last, clock)
      last = message.time
      try await receive(.message(message))
    }
    if let finished { try await receive(.finished([finished])) }
    // Rooms of categories stay empty.
    for forum in tables.rooms { try await receive(.finished([forum])) }
  }

  public func content(_ content: SourceContent) throws(ImportFault) -> (any ByteSource)? {
    guard case .file(let name) = content else { return nil }
    return try folder?.file(Self.path(ofUpload: name))?.source()
  }
}

/// A row by the names of its columns.
struct DiscourseRow {
  private let values: [String?]
  private let columns: [String: Int]

  init(_ values: [String?], _ columns: [String: Int]) {
    self.values = values
    self.columns = columns
  }

  subscript(_ column: String) -> String? { columns[column].flatMap { $0 < values.count ? values[$0] : nil } }

  func number(_ column: String) -> Int? { self[column].flatMap { Int($0) } }
  func isSet(_ column: String) -> Bool { self[column] == "t" }

  func words(_ column: String) -> String? {
    guard let text = self[column], !text.isEmpty else { return nil }
    return text
  }
}
