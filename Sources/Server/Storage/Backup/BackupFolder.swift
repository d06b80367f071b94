// A folder of backups that share their uploaded files:
//
//     owner                                the id of its data folder (BackupOwner)
//     files/ab/cd/…                        every uploaded file once, named by its SHA-256
//     2026-11-20T03-00-00Z/                a backup, named by the time at which it began
//       parley-backup.json                 format, time, and number of rows per table
//       parley.db                          a checked snapshot of the database in one file
//       erasures                           the journal of erasures, unless it is empty
//       SHA256SUMS                         of these and of its uploaded files, which it names as ../files/ab/cd/…
//     2026-11-21T03-00-00Z.part/           an incomplete or half removed backup
//
// `cd DIR/TIME && sha256sum --check SHA256SUMS` checks one. A file is complete before it gets its name below `files`, and a
// backup before it gets its name; so a process that is killed leaves no half of either.

import ParleyCrypto
import ParleyJSON

public struct BackupFolder: Sendable, Equatable {
  public let path: String

  private static let suffix = ".part"
  /// From a backup to the shared files.
  static let above = "../"

  public init(_ path: String) { self.path = path }

  var files: String { "\(path)/\(BackupName.files)" }

  /// The path of a backup in the making.
  func part(_ name: String) -> String { "\(path)/\(name)\(Self.suffix)" }

  /// The complete backups, from the oldest to the newest. Other folders with the name of a time are none.
  func backups() throws(DiskError) -> [FolderBackup] {
    try Disk.names(in: path).compactMap { name in FolderBackup(name, in: self) }.filter { backup in
      [BackupName.manifest, BackupName.sums].contains { Disk.exists("\(backup.path)/\($0)") }
    }
  }

  /// The name of a backup that begins now.
  static func name(at now: Int) -> String { Timestamp.format(now).prefix(19).replacing(":", with: "-") + "Z" }

  /// The reason why a folder can't be used for the backups of a data folder; nil if it can. Rotation removes unknown content below
  /// `files`, so the folder must not be that of a site.
  public func obstacle(data: String) -> String? {
    let (own, data) = (Disk.canonical(path), Disk.canonical(data))
    if own == data || Disk.exists("\(own)/\(BackupName.database)") || Disk.exists("\(own)/lock") {
      return "\(path) is a data folder; backups need a folder of their own"
    }
    let uploads = "\(data)/\(BackupName.files)"
    if own == uploads || own.hasPrefix(uploads + "/") {
      return "\(path) is inside of the folder of uploaded files, \(uploads)"
    }
    return foreignOwner(data: data)
  }

  // MARK: Removal

  /// Removes incomplete backups of killed processes.
  func removeParts() throws(DiskError) {
    for name in try Disk.names(in: path) where name.hasSuffix(Self.suffix) {
      guard FolderBackup(String(name.dropLast(Self.suffix.count)), in: self) != nil else { continue }
      try Disk.removeTree("\(path)/\(name)")
    }
  }

  /// Removes a backup. Its files stay until `removeUnnamedFiles`.
  func remove(_ backup: FolderBackup) throws(DiskError) {
    try Disk.move(backup.path, to: part(backup.name))
    try Disk.removeTree(part(backup.name))
  }

  /// Removes files that no backup names. Returns their number. If the sums of a backup can't be read, no file is removed.
  func removeUnnamedFiles() throws -> Int {
    var named: Set<String> = []
    for backup in try backups() {
      var lines = try SumLines("\(backup.path)/\(BackupName.sums)")
      var namesDatabase = false
      while let line = try lines.next() {
        if line.name == BackupName.database { namesDatabase = true }
        if let digest = StoredFile.digest(inPath: String(line.name.trimmingPrefix(Self.above))) { named.insert(digest) }
      }
      // Such as those of a disk that was full.
      guard namesDatabase else { throw BackupDamage.altered(BackupName.sums) }
    }
    guard Disk.exists(files) else { return 0 }
    var removed = 0
    for outer in try Disk.names(in: files) {
      for inner in try Disk.namesIfFolder("\(files)/\(outer)") {
        let folder = "\(BackupName.files)/\(outer)/\(inner)"
        for name in try Disk.namesIfFolder("\(path)/\(folder)") {
          guard let digest = StoredFile.digest(inPath: "\(folder)/\(name)"), !named.contains(digest) else { continue }
          try Disk.remove("\(path)/\(folder)/\(name)")
          removed += 1
        }
        _ = Disk.removeEmpty("\(path)/\(folder)")
      }
      _ = Disk.removeEmpty("\(files)/\(outer)")
    }
    _ = Disk.removeEmpty(files)
    return removed
  }
}

/// One backup of a `BackupFolder`.
public struct FolderBackup: Sendable, Equatable {
  public let folder: BackupFolder
  /// Its time in UTC, such as `2026-11-20T03-00-00Z`.
  public let name: String
  /// The same in milliseconds since 1970.
  public let time: Int64

  public var path: String { "\(folder.path)/\(name)" }

  /// Nil if the name is not exactly that of a backup.
  init?(_ name: String, in folder: BackupFolder) {
    let text = name.prefix(10) + name.dropFirst(10).replacing("-", with: ":")
    guard let time = Timestamp.parse(String(text)), BackupFolder.name(at: time) == name else { return nil }
    (self.folder, self.name, self.time) = (folder, name, Int64(time))
  }
}

/// The lines of a file SHA256SUMS, one after the other.
struct SumLines: ~Copyable {
  struct Line {
    /// In hexadecimal.
    let digest: String
    let name: String
  }

  private let file: DiskFile
  private var buffer: ArraySlice<UInt8> = []
  private static let newline = UInt8(ascii: "\n")
  /// The longest line in bytes, more than any that is written.
  private static let maxLength = 256

  init(_ path: String) throws(DiskError) { file = try DiskFile.open(path) }

  /// Nil at the end of the file.
  mutating func next() throws -> Line? {
    if !buffer.prefix(Self.maxLength).contains(Self.newline) { buffer += try file.read(DiskFile.pieceSize) }
    if buffer.isEmpty { return nil }
    guard let end = buffer.prefix(Self.maxLength).firstIndex(of: Self.newline) else {
      throw BackupDamage.altered(BackupName.sums)
    }
    let line = buffer[..<end]
    buffer = buffer[(end + 1)...]
    let text = String(decoding: line, as: UTF8.self)
    let (digest, name) = (String(text.prefix(64)), String(text.dropFirst(66)))
    guard let bytes = Hex.bytes(digest), BackupReader.sumLine(bytes, name).dropLast() == Array(line)[...] else {
      throw BackupDamage.altered(BackupName.sums)
    }
    return Line(digest: digest, name: name)
  }
}
