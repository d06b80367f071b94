public import ParleyModel
import Storage

/// The author of messages as the caller may see the user, with the picture.
public struct Author: Sendable {
  public let user: User
  /// The drawing of the name; nil if the user has an avatar.
  public let drawing: GeneratedPicture?
}

extension CommunityView {
  /// The authors that the caller may see, for a page of messages.
  public func getAuthors(_ ids: Set<ID<User>>, for caller: Caller) throws(Refusal) -> [ID<User>: Author] {
    try read { tx throws(Refusal) in
      var authors: [ID<User>: Author] = [:]
      for id in ids {
        do throws(Refusal) {
          let (user, rights) = try tx.user(.id(id), for: caller)
          let hasAvatar = try tx.avatar(of: id) != nil
          authors[id] = Author(
            user: user.redacted(for: rights), drawing: hasAvatar ? nil : try GeneratedPicture(of: user.summary))
        } catch .notFound {
          continue
        }
      }
      return authors
    }
  }
}
