public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Key for signing the marks of devices. A migration created it.
  public func deviceKey() throws(Refusal) -> String? {
    try run { connection in try connection.setting("device_key") }
  }
}
