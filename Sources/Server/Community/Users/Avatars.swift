public import ParleyModel
import Storage

/// The picture of a user.
public enum Avatar: Sendable {
  case file(KeptFile)
  case generated(GeneratedPicture)
}

extension CommunityView {
  /// Public, like the generated picture. Pending users have none.
  public func getAvatar(of reference: UserReference, for caller: Caller) throws(Refusal) -> Avatar {
    let generated = try generatedPicture(of: reference, for: caller)
    let file = try read { tx throws(Refusal) in
      try tx.avatar(of: try tx.userID(reference, for: caller)).flatMap { id throws(Refusal) in try tx.keptFile(id) }
    }
    return file.map { .file($0) } ?? .generated(generated)
  }

  /// The site's icon, or one generated from its name.
  public func getSiteIcon() throws(Refusal) -> ForumIcon {
    let (name, file) = try read { tx throws(Refusal) in
      let settings = try tx.settings()
      return (settings.name, try settings.icon.flatMap { id throws(Refusal) in try tx.keptFile(id) })
    }
    if let file { return .file(file) }
    return try .quilt(of: name)
  }
}

extension Community {
  /// Sets a previously uploaded picture.
  public func setAvatar(
    _ file: ID<File>, of reference: UserReference, by caller: Caller
  ) async throws(Refusal) -> User {
    let actor = try caller.requireUser(.write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (user, rights) = try tx.user(reference, for: caller)
      guard rights.contains(.own) else { throw .forbidden }
      try tx.checkPicture(file, "file", by: caller, bounds)
      try tx.setAvatar(file, of: user, by: actor)
      return try tx.user(reference, for: caller).user.redacted(for: rights)
    }
  }

  /// Deletes the caller's avatar, or as staff another user's.
  public func deleteAvatar(of reference: UserReference, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (user, rights) = try tx.user(reference, for: caller)
      guard rights.contains(.edit) else { throw .forbidden }
      guard try tx.avatar(of: user.summary.id) != nil else { return }
      try tx.setAvatar(nil, of: user, by: actor)
      if actor != user.summary.id { try tx.audit(.userChanged, by: actor, subject: user.summary.id.number) }
    }
  }
}
