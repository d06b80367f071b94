import ParleyKit
import ParleyModel

@testable import ParleyWire

/// The steps of a schedule in which the server's data goes back to a copy.
extension PhoneSchedule {
  private static let maxGrowth = 30

  func restoreStep() async throws {
    let phone = pick(phones)
    if chance(1, in: 4), await !phone.parley.outbox.orphans.isEmpty {
      try await reviseOrphans(of: phone)
    } else if !stage.copies.isEmpty, chance(2, in: 3) {
      try await putBack(pick(stage.copies))
    } else {
      let isHot = chance(1, in: 2)
      note(isHot ? "the running server’s data is copied" : "the stopped server’s data is copied")
      if !isHot { for phone in phones { closeConnections(phone) } }
      try await stage.copyData(isHot: isHot, on: self)
    }
  }

  private func putBack(_ copy: String) async throws {
    let kill = chance(1, in: 2)
    let number = stage.copies.firstIndex(of: copy) ?? 0
    note("the server \(kill ? "is killed" : "stops"), and copy \(number) is put back")
    for phone in phones { closeConnections(phone) }
    try await forgetUnprotected()
    try await stage.putBack(copy, kill: kill, on: self)
    try await grow(by: .random(in: 0...Self.maxGrowth, using: &random))
  }

  /// Expects only the messages of the outboxes and the cached ones: the copies of messages that the user deleted or may not
  /// read any more are gone. A response or an event that is on its way may tell an app of a deletion, or that the user has left a
  /// conversation, and then the app has no copy either. A deletion may be undone, also one whose response is on its way, or whose files remain.
  private func forgetUnprotected() async throws {
    let deletedSends = stage.deletedSends()
    for phone in phones {
      let prefix = "\(seed)-\(phone.name)-"
      let readable = try await stage.replica(of: phone.user).conversations
      var kept = Set(await phone.parley.outbox.list().map(\.id))
      for (name, message) in deletions
      where name.hasPrefix(prefix) && (!kept.contains(name) || answeredDeletions.contains(message)) {
        deletions[name] = nil
      }
      kept.formUnion(await phone.parley.outbox.orphans.compactMap(\.clientID))
      // A response may still complete a deletion.
      let deleted = await phone.parley.outbox.list(.delete).compactMap(\.target)
      for id in await phone.parley.cache.cachedConversations {
        for known in try await phone.parley.cache.messages(.range(1...Int.max, of: id))
        where known.message.content != nil && !deleted.contains(.message(known.message.id)) {
          if let name = known.message.clientID { kept.insert(name) }
        }
      }
      for name in expectedMessages.keys where name.hasPrefix(prefix) {
        let hasLeft = conversationsOfPosts[name].map { readable[$0] == nil } ?? false
        if !kept.contains(name) || deletedSends.contains(name) || hasLeft { expectedMessages[name] = .optional }
      }
    }
  }

  /// Posts messages of other programs.
  private func grow(by count: Int) async throws {
    let conversations = stage.audit.conversations
    guard !conversations.isEmpty else { return }
    for _ in 0..<count {
      let (conversation, user) = (pick(conversations), pick(stage.site.users))
      _ = await stage.perform(
        .post, "/conversations/\(conversation)/messages", token: user.token, Array(#"{"text":"growth"}"#.utf8),
        on: self)
    }
    note("other programs post \(count) messages")
  }

  /// Sends lost messages again, or discards one.
  private func reviseOrphans(of phone: Phone) async throws {
    let orphans = await phone.parley.outbox.orphans
    for orphan in orphans where chance(2, in: 3) {
      let name = orphan.clientID ?? ""
      do {
        if chance(2, in: 3) {
          note("\(phone.name) sends the lost \(name) again")
          let before = phone.lastName
          let operation = try await phone.parley.outbox.resend(orphan.id)
          if phone.lastName != before { expectedMessages[operation.id] = .required }
        } else {
          note("\(phone.name) discards the lost \(name)")
          if expectedMessages[name] != nil { expectedMessages[name] = .optional }
          try await phone.parley.outbox.discard(orphan.id)
        }
      } catch is CacheFault where phone.lifetime.isOver {
        return
      } catch is OutboxRefusal {}
    }
  }
}
