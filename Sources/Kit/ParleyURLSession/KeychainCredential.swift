#if canImport(Security)
import Foundation
public import ParleyKit
import Security

/// The session of a device in the keychain. It is readable after the first unlock, also by extensions of the same access group,
/// and in no backup of another device.
public struct KeychainCredential: CredentialStore {
  private let service: String
  private let group: String?

  /// - Parameters:
  ///   - service: a name of the app; apps with several sessions use several.
  ///   - group: the access group that the app shares with its extensions.
  public init(service: String, group: String? = nil) {
    self.service = service
    self.group = group
  }

  private var query: [CFString: Any] {
    var query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: "session",
    ]
    if let group { query[kSecAttrAccessGroup] = group }
    return query
  }

  /// Nil without an item.
  public func load() throws(CacheFault) -> StoredCredential? {
    var found: CFTypeRef?
    var query = query
    query[kSecReturnData] = true
    let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
    if status == errSecItemNotFound { return nil }
    guard status == errSecSuccess, let data = found as? Data else { throw .broken("keychain status \(status)") }
    return StoredCredential(Array(data))
  }

  /// Replaces the item.
  public func save(_ credential: StoredCredential) throws(CacheFault) {
    let values: [CFString: Any] = [
      kSecValueData: Data(credential.bytes), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ]
    var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
    if status == errSecItemNotFound {
      status = unsafe SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil)
    }
    guard status == errSecSuccess else { throw .broken("keychain status \(status)") }
  }

  /// Removes the item.
  public func remove() { SecItemDelete(query as CFDictionary) }
}
#endif
