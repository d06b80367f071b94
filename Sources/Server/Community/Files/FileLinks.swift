// Signed file URLs that work without a token for one hour, for media players and other programs that cannot send
// headers. A URL has its creator's read access and ends with the creator's session.

public import ParleyModel
import Storage

/// A signed URL.
public struct SignedFileLink: Sendable {
  /// The query parameter.
  public let token: String
  /// Milliseconds since 1970.
  public let endsAt: Int64
}

extension Community {
  static let linkLife: Int64 = 3_600_000
  fileprivate static let linkPurpose = "file"

  /// Signs `claim` for one file.
  func linkSignature(of claim: String, _ id: ID<File>) throws(Refusal) -> String {
    guard let linkKey else { throw .unavailable }
    return try TextSignature.make(Self.linkPurpose, "\(id) \(claim)", key: linkKey)
  }
}

extension CommunityView {
  public func createFileLink(to id: ID<File>, for caller: Caller) throws(Refusal) -> SignedFileLink {
    let user = try caller.requireUser()
    guard let session = caller.session else { throw .forbidden }
    let endsAt = try read { tx throws(Refusal) in
      _ = try tx.file(id, for: try tx.revalidate(caller))
      return tx.now + Community.linkLife
    }
    let claim = "\(user).\(session).\(endsAt)"
    return SignedFileLink(token: "\(claim).\(try community.linkSignature(of: claim, id))", endsAt: endsAt)
  }

  /// Opens a file by its signed URL, with its creator's current read access. Throws if the token is invalid, expired or
  /// revoked.
  public func getFile(_ id: ID<File>, byLink token: String) throws(Refusal) -> KeptFile {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard token.utf8.count <= 200, parts.count == 4, let user = ID<User>(parts[0]),
      let session = ID<Session>(parts[1]), let endsAt = Int64(parts[2])
    else { throw .notFound }
    guard let key = community.linkKey else { throw .unavailable }
    let claim = parts.prefix(3).joined(separator: ".")
    return try read { tx throws(Refusal) in
      guard try TextSignature.isRight(parts[3], Community.linkPurpose, "\(id) \(claim)", key: key), tx.now < endsAt,
        endsAt <= tx.now + Community.linkLife, let known = try tx.activeSession(session), known.user == user
      else { throw .notFound }
      let creator = Caller(user: user, role: known.role, scope: .read, session: session, limits: known.limits)
      return try tx.file(id, for: creator)
    }
  }
}
