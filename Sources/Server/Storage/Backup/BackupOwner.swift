// The data folder that a folder of backups belongs to: `owner` in the folder of backups has the same random id as `backup-owner` in
// the data folder. A second server with the same `--backup-to` would count, test and remove the backups of the first one. The id is
// neither in the database nor in a backup, so a restored copy of a site has another one.

import ParleyCrypto

extension BackupFolder {
  private static let owner = "owner"
  private static let ownID = "backup-owner"
  private static let idBytes = 16

  private var owner: String { "\(path)/\(Self.owner)" }

  /// Whether the folder is the folder `backups` in a data folder. It has no owner file.
  private func isInside(_ data: String) -> Bool { Disk.canonical(path) == "\(Disk.canonical(data))/backups" }

  /// The refusal of a folder that belongs to another data folder; nil if it may be used. Only the server's user can read both files.
  func foreignOwner(data: String) -> String? {
    guard !isInside(data), let found = try? Self.read(owner) else { return nil }
    return found == (try? Self.read("\(data)/\(Self.ownID)")) ? nil : refusal
  }

  private var refusal: String { "\(path) has the backups of another data folder; remove \(owner) to take it over" }

  /// Makes a data folder the owner of the folder, unless it is.
  func claim(for data: String) throws {
    guard !isInside(data) else { return }
    let own = "\(data)/\(Self.ownID)"
    if !Disk.exists(own) {
      try Self.write(Hex.text(try SecureRandom.bytes(Self.idBytes)), to: own, part: own + ".part")
    }
    let id = try Self.read(own)
    if !Disk.exists(owner) { try Self.write(id, to: owner, part: "\(owner)-\(id).part") }
    // Another server may have been faster.
    guard try Self.read(owner) == id else { throw BackupFault.impossible("\(refusal).") }
  }

  /// An id and a newline.
  private static func read(_ path: String) throws -> String {
    let text = String(decoding: try DiskFile.open(path).read(2 * idBytes + 2), as: UTF8.self)
    guard text.last == "\n", let bytes = Hex.bytes(String(text.dropLast())), bytes.count == idBytes else {
      throw BackupFault.impossible("\(path) is damaged; remove it.")
    }
    return Hex.text(bytes)
  }

  /// Renames the file after it is complete and synced. Never replaces an existing file.
  private static func write(_ id: String, to path: String, part: String) throws {
    try Disk.remove(part)
    let file = try DiskFile.make(part)
    try file.write(Array("\(id)\n".utf8))
    try file.sync()
    try Disk.name(part, also: path)
    try Disk.remove(part)
    try Disk.sync(Disk.folder(of: path))
  }
}
