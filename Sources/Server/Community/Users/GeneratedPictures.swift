import ParleyCrypto
public import ParleyModel
import Storage

/// A picture generated from a name.
public struct GeneratedPicture: Sendable {
  public let picture: Picture
  /// The ETag. It changes with the picture.
  public let tag: String
}

extension CommunityView {
  /// The generated picture of a user without an avatar. It depends only on the name. It is public like all avatars;
  /// pending users have none.
  public func generatedPicture(of reference: UserReference, for caller: Caller) throws(Refusal) -> GeneratedPicture {
    let user = try read { tx throws(Refusal) in
      if case .id(let id) = reference { return try tx.user(id) }
      return try tx.user(reference, for: caller).user
    }
    guard let user, user.standing?.state != .pending else { throw .notFound }
    return try GeneratedPicture(of: user.summary)
  }
}

extension GeneratedPicture {
  init(of user: UserSummary) throws(Refusal) {
    // Former members have no name; their id gives each a distinct picture.
    let subject = user.name.map { UserName.key($0) } ?? user.id.description
    do {
      let digest = try Digest.sha256(of: Array(subject.utf8))
      self.init(picture: Picture.blossom(digest), tag: Picture.version + Hex.text(Array(digest.prefix(8))))
    } catch {
      throw .unavailable
    }
  }
}
