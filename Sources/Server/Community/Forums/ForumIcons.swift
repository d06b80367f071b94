import ParleyCrypto
public import ParleyModel
import Storage

/// What a forum looks like.
public enum ForumIcon: Sendable {
  /// Where its people say that it is; and what else it looks like where nothing is.
  indirect case address(String, otherwise: ForumIcon)
  /// What they uploaded.
  case file(KeptFile)
  /// Made of the title: the same for ever, as long as the title is. The tag is another for another drawing.
  case drawing(svg: String, tag: String)
}

extension CommunityView {
  public func icon(of id: ID<Forum>, for caller: Caller) throws(Refusal) -> ForumIcon {
    let forum = try forum(id, for: caller).forum
    if let icon = forum.icon {
      let kept = try read { tx throws(Refusal) in try tx.keptFile(icon) }
      if let kept { return .file(kept) }
    }
    let drawing = try ForumIcon.quilt(of: forum.title)
    return forum.iconURL.map { .address($0, otherwise: drawing) } ?? drawing
  }
}

extension ForumIcon {
  static func quilt(of title: String) throws(Refusal) -> ForumIcon {
    do {
      let digest = try Digest.sha256(of: Array(title.utf8))
      return .drawing(svg: Picture.quilt(digest), tag: Hex.text(Array(digest.prefix(8))))
    } catch {
      throw .unavailable
    }
  }
}
