// The key that seals secrets in the database: `secrets.key` in the data folder, which no backup contains. A stolen backup
// or database opens none of them.

import ParleyCrypto

enum SecretsKey {
  static let name = "secrets.key"
  private static let part = "secrets.key.part"

  static func exists(in folder: String) -> Bool { Disk.exists("\(folder)/\(name)") }

  /// The log line for a new key beside secrets that an earlier one has sealed.
  static func loss(in folder: String) -> String {
    "\(folder)/\(name) was missing, and a new key was made. Secrets sealed by the earlier key can't be opened: users with "
      + "two-step sign-in need a recovery code or a reset, outgoing webhooks and slash commands a new secret. Restore "
      + "the file to undo this."
  }

  /// Reads the key, or creates it at the first start.
  static func load(_ folder: String, log: (String) -> Void) throws(StoreFault) -> SealedBox {
    let path = "\(folder)/\(name)"
    do {
      if !Disk.exists(path) { try make(path, in: folder) }
      let file = try DiskFile.open(path)
      if try !file.isPrivate {
        log("\(path) can be read by other users of this computer. Run chmod 600 \(path).")
      }
      // A key and a newline. One more byte shows a longer file.
      let text = String(decoding: try file.read(2 * SealedBox.keyBytes + 2), as: UTF8.self)
      guard text.last == "\n", let key = Hex.bytes(String(text.dropLast())), let box = SealedBox(key: key) else {
        throw StoreFault.secretsKey(path)
      }
      return box
    } catch let fault as StoreFault {
      throw fault
    } catch {
      throw StoreFault.unusableKey(path, reason: "\(error)")
    }
  }

  /// The file has its name only when it is whole, of the right owner, and on the disk.
  private static func make(_ path: String, in folder: String) throws {
    let key = try SecureRandom.bytes(SealedBox.keyBytes)
    try Disk.remove("\(folder)/\(part)")
    let file = try DiskFile.make("\(folder)/\(part)")
    try file.write(Array("\(Hex.text(key))\n".utf8))
    try file.sync()
    try Disk.give("\(folder)/\(part)", toOwnerOf: folder)
    try Disk.move("\(folder)/\(part)", to: path)
    try Disk.sync(folder)
  }
}
