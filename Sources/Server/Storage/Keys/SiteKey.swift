// The key with which the site signs its checkpoints: `site.key` in the data folder, which no backup contains. `parley key` exports and
// imports it.

public import ParleyCrypto

public enum SiteKey {
  static let name = "site.key"

  private static func file(in folder: String) -> KeyFile {
    KeyFile(folder: folder, name: name, length: Ed25519.keyBytes)
  }

  /// Reads the key, or creates it at the first start.
  static func load(_ folder: String, log: (String) -> Void) throws(StoreFault) -> Ed25519 {
    let file = file(in: folder)
    do {
      if !file.exists { try file.write(try Ed25519().secret) }
      return try key(file, log: log)
    } catch let fault as StoreFault {
      throw fault
    } catch {
      throw .unusableKey(file.path, reason: "\(error)")
    }
  }

  /// The key of a data folder, whether a server uses it or not; nil before the first start.
  public static func read(_ folder: String) throws(StoreFault) -> Ed25519? {
    let file = file(in: folder)
    guard file.exists else { return nil }
    do { return try key(file) { _ in } } catch let fault as StoreFault { throw fault } catch {
      throw .unusableKey(file.path, reason: "\(error)")
    }
  }

  /// Replaces the key of a data folder that no server uses.
  public static func replace(in folder: DataFolder, by key: Ed25519) throws(StoreFault) {
    let file = file(in: folder.path)
    do { try file.write(key.secret) } catch { throw .unusableKey(file.path, reason: "\(error)") }
  }

  private static func key(_ file: KeyFile, log: (String) -> Void) throws -> Ed25519 {
    guard let secret = try file.read(log: log) else { throw StoreFault.siteKey(file.path) }
    return try Ed25519(secret: secret)
  }
}
