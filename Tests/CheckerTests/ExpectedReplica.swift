import ParleyModel

@testable import Community

/// The server's current responses, and the replica expected from them.
extension Stage {
  func messages(of conversation: ID<Conversation>, for caller: Caller) async throws(Refusal) -> [MessageView] {
    var request = MessageRequest()
    (request.order, request.limit) = (.ascending, 200)
    return try await server.view.listMessages(in: conversation, request, for: caller).messages
  }

  /// The replica of a client that connects now.
  func replica(of user: CheckedSite.TestUser) async throws -> Replica {
    let caller = try server.caller(user)
    let snapshot = try await server.community.getSnapshot(for: caller)
    var replica = Replica(snapshot)
    for own in snapshot.conversations where own.conversation.lastSeq > 0 {
      replica.merge(try await messages(of: own.conversation.id, for: caller), asOf: snapshot.cursor.event)
    }
    return replica
  }

  /// Checks that a replica has only readable objects, by the tables, and equals the server's responses.
  /// - Parameter isProven: the client has verified its copies.
  func check(
    _ known: Replica, of name: String, _ user: ID<User>, against expected: Replica, isWhole: Bool = true,
    isProven: Bool = false
  ) {
    // After a reset, a client compares texts and not actions.
    let differences = known.differences(
      from: expected, isWhole: isWhole, withReadPositions: isProven || !(hasRemovedLog || hasGoneBack))
    for difference in differences.prefix(4) { fail("\(name) \(difference)") }
    for (id, conversation) in known.conversations where conversation.isOwn {
      guard let start = audit.start(of: user, in: id) else {
        fail("\(name) has conversation \(id) without permission")
        continue
      }
      guard let first = conversation.messages.keys.min(), first < start else { continue }
      fail("\(name) has message \(first) of \(id), but may read from \(start)")
    }
  }
}
