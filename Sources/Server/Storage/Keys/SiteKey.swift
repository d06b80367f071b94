// The key with which the site signs its checkpoints: `site.key` in the data folder, which no backup contains. `parley key` exports and
// imports it.

public import ParleyCrypto

public enum SiteKey {
  static let name = "site.key"

  static func exists(in folder: String) -> Bool { file(in: folder).exists }

  /// The log line for a new key on a site that has signed with an earlier one.
  static func loss(in folder: String) -> String {
    "\(folder)/\(name) was missing, and a new key was made. Earlier checkpoints are those of another key. Restore the file, or "
      + "run parley key import, to undo this."
  }

  private static func file(in folder: String) -> KeyFile {
    KeyFile(folder: folder, name: name, length: Ed25519.keyBytes)
  }

  /// Reads the key, or creates it at the first start.
  static func load(_ folder: String, log: (String) -> Void) throws(StoreFault) -> Ed25519 {
    try file(in: folder).using { file in
      if !file.exists { try file.write(try Ed25519().secret) }
      return try key(file, log: log)
    }
  }

  /// The key of a data folder, whether a server uses it or not; nil before the first start.
  public static func read(_ folder: String) throws(StoreFault) -> Ed25519? {
    try file(in: folder).using { file in file.exists ? try key(file) { _ in } : nil }
  }

  /// Replaces the key of a data folder that no server uses. The file `secrets.key` looks the same, so it is refused.
  public static func replace(in folder: DataFolder, by key: Ed25519) throws(StoreFault) {
    try file(in: folder.path).using { file in
      guard try !SecretsKey.isKey(key.secret, of: folder.path) else {
        throw StoreFault.unusableKey(file.path, reason: "it is the content of \(SecretsKey.name)")
      }
      try file.write(key.secret)
    }
  }

  private static func key(_ file: KeyFile, log: (String) -> Void) throws -> Ed25519 {
    guard let secret = try file.read(log: log) else { throw StoreFault.siteKey(file.path) }
    return try Ed25519(secret: secret)
  }
}
