// The key that seals secrets in the database: `secrets.key` in the data folder, which no backup contains. A stolen backup
// or database opens none of them.

import ParleyCrypto

enum SecretsKey {
  static let name = "secrets.key"

  private static func file(in folder: String) -> KeyFile {
    KeyFile(folder: folder, name: name, length: SealedBox.keyBytes)
  }

  static func exists(in folder: String) -> Bool { file(in: folder).exists }

  static func isKey(_ secret: [UInt8], of folder: String) throws -> Bool {
    let file = file(in: folder)
    return try file.exists && file.read { _ in } == secret
  }

  /// The log line for a new key beside secrets that an earlier one has sealed.
  static func loss(in folder: String) -> String {
    "\(folder)/\(name) was missing, and a new key was made. Secrets sealed by the earlier key can't be opened: users with "
      + "two-step sign-in need a recovery code or a reset, outgoing webhooks and slash commands a new secret. Restore "
      + "the file to undo this."
  }

  /// Reads the key, or creates it at the first start.
  static func load(_ folder: String, log: (String) -> Void) throws(StoreFault) -> SealedBox {
    try file(in: folder).using { file in
      if !file.exists { try file.write(try SecureRandom.bytes(SealedBox.keyBytes)) }
      guard let key = try file.read(log: log), let box = SealedBox(key: key) else {
        throw StoreFault.secretsKey(file.path)
      }
      return box
    }
  }
}
