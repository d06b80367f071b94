public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Under which links to files are signed; nil until the first was.
  public func fileLinkKey() throws(Refusal) -> String? {
    try run { connection in try connection.setting("file_link_key") }
  }
}

extension WriteTransaction {
  /// The key from now on; the one that there is stays.
  public func keepFileLinkKey(_ key: String) throws(Refusal) {
    try run { connection in try connection.keepFirstSetting("file_link_key", key) }
  }
}
