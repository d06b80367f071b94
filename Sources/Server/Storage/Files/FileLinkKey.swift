public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Key for signing file links; nil until the first link.
  public func fileLinkKey() throws(Refusal) -> String? {
    try run { connection in try connection.setting("file_link_key") }
  }
}

extension WriteTransaction {
  /// Stores the key, unless one exists.
  public func storeFileLinkKey(_ key: String) throws(Refusal) {
    try run { connection in try connection.keepFirstSetting("file_link_key", key) }
  }
}
