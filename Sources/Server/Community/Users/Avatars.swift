public import ParleyModel
import Storage

/// What somebody looks like.
public enum Avatar: Sendable {
  case file(KeptFile)
  case drawing(Drawing)
}

extension CommunityView {
  /// Open to all, like the drawing; of who waits to come in there is none.
  public func avatar(of reference: AccountReference, for caller: Caller) throws(Refusal) -> Avatar {
    let drawing = try drawing(of: reference, for: caller)
    let file = try read { tx throws(Refusal) in
      try tx.avatar(of: try tx.account(reference, for: caller)).flatMap { id throws(Refusal) in try tx.keptFile(id) }
    }
    return file.map { .file($0) } ?? .drawing(drawing)
  }

  /// The place's own picture, or one made of its name.
  public func placeIcon() throws(Refusal) -> ForumIcon {
    let (name, file) = try read { tx throws(Refusal) in
      let settings = try tx.settings()
      return (settings.name, try settings.icon.flatMap { id throws(Refusal) in try tx.keptFile(id) })
    }
    if let file { return .file(file) }
    return try .quilt(of: name)
  }
}

extension Community {
  /// A picture of one's own, uploaded before.
  public func setAvatar(
    _ file: ID<File>, of reference: AccountReference, by caller: Caller
  ) async throws(Refusal) -> Person {
    let actor = try caller.person(for: .write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (person, rights) = try tx.person(reference, for: caller)
      guard rights.contains(.own) else { throw .forbidden }
      try tx.checkPicture(file, "file", of: actor, bounds)
      try tx.setAvatar(file, of: person, by: actor)
      return try tx.person(reference, for: caller).person.seen(with: rights)
    }
  }

  /// One's own, and for the staff, those of others.
  public func removeAvatar(of reference: AccountReference, by caller: Caller) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (person, rights) = try tx.person(reference, for: caller)
      guard rights.contains(.edit) else { throw .forbidden }
      guard try tx.avatar(of: person.account.id) != nil else { return }
      try tx.setAvatar(nil, of: person, by: actor)
      if actor != person.account.id { try tx.audit(.personChanged, by: actor, subject: person.account.id.number) }
    }
  }
}
