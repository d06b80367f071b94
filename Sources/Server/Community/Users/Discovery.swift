// Finding people by an address that the asker knows. It answers only for who gave the address and said yes, and says
// nothing of anyone else: not that they are there, and not that they are not.

public import ParleyModel
import Storage

extension Community {
  /// What is no address finds nobody, as an address that nobody gave.
  public func discover(_ texts: [String], by caller: Caller) async throws(Refusal) -> [Discovered] {
    let asker = try caller.person(for: .write)
    guard texts.count <= bounds.discoveries else { throw .invalid("addresses", .tooMany(limit: bounds.discoveries)) }
    return try await store.readInBackground { [bounds] tx throws(Refusal) in
      guard Permissions.mayDiscover(try tx.renewed(caller).role), try tx.settings().hasDiscovery else {
        throw .forbidden
      }
      guard let key = try tx.addressKey() else { return [] }
      var found: [Discovered] = []
      for text in texts {
        guard let address = ContactAddress(text) else { continue }
        for person in try tx.discoverable(at: address.digest(key), limit: bounds.discovered) {
          guard person.account.id != asker, try !tx.isBlocked(asker, person.account.id) else { continue }
          found.append(Discovered(address: text, account: person.account))
        }
      }
      return found
    }
  }
}

extension WriteTransaction {
  /// Whether they are others than before. The key is made with the first of all addresses.
  func keep(
    _ addresses: Set<ContactAddress>, of account: ID<Account>, _ spareKey: Secret
  ) throws(Refusal) -> Bool {
    if !addresses.isEmpty { try keepAddressKey(spareKey.text) }
    let key = try addressKey() ?? ""
    var digests: Set<[UInt8]> = []
    for address in addresses { digests.insert(try address.digest(key)) }
    guard try digests != self.addresses(of: account) else { return false }
    try setAddresses(digests, of: account)
    return true
  }
}
