import ParleyCrypto
public import ParleyModel
import Storage

/// The icon of a forum.
public enum ForumIcon: Sendable {
  /// A URL in the settings, and the icon to use instead if it fails.
  indirect case address(String, otherwise: ForumIcon)
  /// An uploaded picture.
  case file(KeptFile)
  /// Generated from the title. The tag is the ETag and changes with the picture.
  case generated(svg: String, tag: String)
}

extension CommunityView {
  public func getForumIcon(of id: ID<Forum>, for caller: Caller) throws(Refusal) -> ForumIcon {
    let forum = try getForum(id, for: caller).forum
    if let icon = forum.icon {
      let stored = try read { tx throws(Refusal) in try tx.keptFile(icon) }
      if let stored { return .file(stored) }
    }
    let generated = try ForumIcon.quilt(of: forum.title)
    return forum.iconURL.map { .address($0, otherwise: generated) } ?? generated
  }
}

extension ForumIcon {
  static func quilt(of title: String) throws(Refusal) -> ForumIcon {
    do {
      let digest = try Digest.sha256(of: Array(title.utf8))
      return .generated(svg: Picture.quilt(digest).svg, tag: Picture.version + Hex.text(Array(digest.prefix(8))))
    } catch {
      throw .unavailable
    }
  }
}
