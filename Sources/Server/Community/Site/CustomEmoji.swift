public import ParleyModel
import Storage

/// The result of creating a custom emoji.
public struct CreatedEmoji: Sendable {
  public let emoji: CustomEmoji
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

extension Community {
  public func createEmoji(_ draft: CustomEmojiDraft, by caller: Caller) async throws(Refusal) -> CreatedEmoji {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      try tx.requireStaff(caller)
      if let clientID = draft.clientID, let earlier = try tx.remembered(.emoji, by: actor, clientID) {
        guard let (emoji, _) = try tx.customEmoji(ID(earlier.subject)) else { throw .gone }
        guard emoji.name == draft.name else { throw .clientIDReused }
        return CreatedEmoji(emoji: emoji, isNew: false)
      }
      guard try tx.settings().emoji.count < bounds.emoji else { throw .tooMany(limit: bounds.emoji) }
      guard try !tx.hasCustomEmoji(named: draft.name) else { throw .invalid("name", .taken) }
      try tx.checkEmojiPicture(draft.file, "file", by: caller, bounds)
      let emoji = try tx.addCustomEmoji(draft.name, draft.file, by: actor)
      if let clientID = draft.clientID { try tx.remember(.emoji, by: actor, clientID, subject: emoji.id.number) }
      try tx.audit(.settingsChanged, by: actor, subject: 0, changes: [CustomEmoji.change(from: nil, to: emoji.name)])
      return CreatedEmoji(emoji: emoji, isNew: true)
    }
  }

  public func deleteEmoji(_ id: ID<CustomEmoji>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      try tx.requireStaff(caller)
      guard let (emoji, _) = try tx.customEmoji(id) else { return }
      try tx.removeCustomEmoji(id, by: actor)
      try tx.audit(.settingsChanged, by: actor, subject: 0, changes: [CustomEmoji.change(from: emoji.name, to: nil)])
    }
  }
}

extension CommunityView {
  /// Public, like the site's icon.
  public func getEmojiPicture(of id: ID<CustomEmoji>) throws(Refusal) -> KeptFile {
    try read { tx throws(Refusal) in
      guard let (_, file) = try tx.customEmoji(id), let kept = try tx.keptFile(file) else { throw .notFound }
      return kept
    }
  }
}

extension CustomEmojiDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> CustomEmojiDraft {
    var check = FieldChecks()
    check { () throws(Refusal) in if !CustomEmoji.isName(name) { throw .invalid("name", .invalid) } }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return self
  }
}
