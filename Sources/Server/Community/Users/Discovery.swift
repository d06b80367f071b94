// Finds users by contact address. Only users who registered the address and opted in are found. The response reveals
// nothing about others, not even whether they exist.

public import ParleyModel
import Storage

extension Community {
  /// Invalid addresses find no users, like unknown ones.
  public func discoverUsers(_ texts: [String], by caller: Caller) async throws(Refusal) -> [Discovered] {
    let searcher = try caller.requireUser(.write)
    guard texts.count <= bounds.discoveries else { throw .invalid("addresses", .tooMany(limit: bounds.discoveries)) }
    return try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      guard Permissions.mayDiscover(try tx.reloadCaller(caller).role), try tx.settings().hasDiscovery else {
        throw .forbidden
      }
      guard let key = try tx.addressKey() else { return [] }
      var found: [Discovered] = []
      for text in texts {
        guard let address = ContactAddress(text) else { continue }
        for user in try tx.discoverable(at: address.digest(key), limit: bounds.discovered) {
          guard user.summary.id != searcher, try !tx.isBlocked(searcher, user.summary.id) else { continue }
          found.append(Discovered(address: text, user: user.summary))
        }
      }
      return found
    }
  }
}

extension WriteTransaction {
  /// Replaces the stored digests and returns whether they changed. The key is created with the first address.
  func replaceAddresses(
    _ addresses: Set<ContactAddress>, of user: ID<User>, _ spareKey: Secret
  ) throws(Refusal) -> Bool {
    if !addresses.isEmpty { try storeAddressKey(spareKey.text) }
    let key = try addressKey() ?? ""
    var digests: Set<[UInt8]> = []
    for address in addresses { digests.insert(try address.digest(key)) }
    guard try digests != self.addresses(of: user) else { return false }
    try setAddresses(digests, of: user)
    return true
  }
}
