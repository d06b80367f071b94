// Members of users for clients of App.net and pnut that have no place in the account. The same users see them as the account.

public import ParleyModel
public import Storage

/// The members of a user, with the picture behind its profile.
public struct ShownDialectProfile: Sendable {
  public let profile: DialectProfile
  public let cover: File?
}

extension CommunityView {
  /// The members of users that the caller sees.
  public func dialectProfiles(of users: [ID<User>]) throws(Refusal) -> [ID<User>: ShownDialectProfile] {
    try read { tx throws(Refusal) in
      var found: [ID<User>: ShownDialectProfile] = [:]
      for user in Set(users) {
        let profile = try tx.dialectProfile(of: user)
        let cover = try profile.cover.flatMap { id throws(Refusal) in try tx.keptFile(id)?.file }
        found[user] = ShownDialectProfile(profile: profile, cover: cover)
      }
      return found
    }
  }
}

extension Community {
  /// Changes the members of the caller.
  public func updateDialectProfile(
    by caller: Caller, _ change: @escaping @Sendable (inout DialectProfile) -> Void
  ) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    try caller.requireWholeSite()
    try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let before = try tx.dialectProfile(of: user)
      var after = before
      change(&after)
      guard after != before else { return }
      for (name, text) in [("locale", after.locale), ("timezone", after.timezone)] {
        guard let text else { continue }
        guard text.utf8.count <= Self.maxProfileBytes, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
          throw .invalid(name, .invalid)
        }
      }
      if let cover = after.cover, cover != before.cover { try tx.checkPicture(cover, "cover", by: caller, bounds) }
      try tx.set(after, of: user)
    }
  }

  /// Deletes the caller's cover, or as staff another user's.
  public func deleteDialectCover(of reference: UserReference, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try caller.requireWholeSite()
    try await store.write { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      guard rights.contains(.edit) else { throw .forbidden }
      let id = user.summary.id
      var profile = try tx.dialectProfile(of: id)
      guard profile.cover != nil else { return }
      profile.cover = nil
      try tx.set(profile, of: id)
      if actor != id { try tx.audit(.userChanged, by: actor, subject: id.number) }
    }
  }

  /// Bytes of a locale or the name of a time zone.
  private static let maxProfileBytes = 64
}
