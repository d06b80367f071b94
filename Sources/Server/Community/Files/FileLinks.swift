// Addresses of files that work for an hour without a token: for players and for programs that know no headers. Such an address
// stands for who asked for it: it opens what they may read, as long as the session lives by which they asked.

import ParleyCrypto
public import ParleyModel
import Storage

/// A signed address.
public struct FileLink: Sendable {
  /// What stands in the query.
  public let token: String
  /// Milliseconds since 1970.
  public let endsAt: Int64
}

extension Community {
  static let linkLife: Int64 = 3_600_000

  public func link(to id: ID<File>, for caller: Caller) async throws(Refusal) -> FileLink {
    let account = try caller.person()
    guard let session = caller.session else { throw .forbidden }
    let spare = try Secret.make()
    let (key, now) = try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      _ = try tx.file(id, for: caller)
      try tx.keepFileLinkKey(spare.text)
      return (try tx.fileLinkKey(), tx.now)
    }
    guard let key else { throw .unavailable }
    let endsAt = now + Self.linkLife
    let claim = "\(account).\(session).\(endsAt)"
    return FileLink(token: "\(claim).\(try Self.signature(of: claim, id, key))", endsAt: endsAt)
  }

  fileprivate static func signature(of claim: String, _ id: ID<File>, _ key: String) throws(Refusal) -> String {
    do {
      return Hex.text(try HMAC.sha256(of: Array("file \(id) \(claim)".utf8), key: Array(key.utf8)))
    } catch { throw .unavailable }
  }
}

extension CommunityView {
  /// A file by a signed address: as its maker may read it now. What is wrong, over or revoked opens nothing.
  public func file(_ id: ID<File>, byLink token: String) throws(Refusal) -> KeptFile {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard token.utf8.count <= 200, parts.count == 4, let account = ID<Account>(parts[0]),
      let session = ID<Session>(parts[1]), let endsAt = Int64(parts[2])
    else { throw .notFound }
    return try read { tx throws(Refusal) in
      guard let key = try tx.fileLinkKey() else { throw .notFound }
      let claim = parts.prefix(3).joined(separator: ".")
      let expected = try Community.signature(of: claim, id, key)
      guard ConstantTime.isEqual(Array(parts[3].utf8), Array(expected.utf8)), tx.now < endsAt,
        let known = try tx.openSession(session), known.account == account
      else { throw .notFound }
      let maker = Caller(account: account, role: known.role, scope: .read, session: session)
      return try tx.file(id, for: maker)
    }
  }
}
