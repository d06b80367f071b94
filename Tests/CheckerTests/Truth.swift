import ParleyModel

@testable import Community

/// What the server would answer now, and what follows from that for who holds something.
extension Stage {
  func messages(of conversation: ID<Conversation>, for caller: Caller) async throws(Refusal) -> [MessageView] {
    var request = MessageRequest()
    (request.order, request.limit) = (.ascending, 200)
    return try await server.view.listMessages(in: conversation, request, for: caller).messages
  }

  /// What somebody would hold who comes now.
  func replica(of user: CheckedSite.TestUser) async throws -> Replica {
    let caller = try server.caller(user)
    let snapshot = try await server.community.getSnapshot(for: caller)
    var replica = Replica(snapshot)
    for own in snapshot.conversations where own.conversation.lastSeq > 0 {
      replica.hold(try await messages(of: own.conversation.id, for: caller), asOf: snapshot.cursor.event)
    }
    return replica
  }

  /// Nothing is held that is not theirs to read, by the tables, and nothing is otherwise than the server would say.
  /// - Parameter isProven: who holds it has asked whether its copies are whole.
  func check(
    _ held: Replica, of name: String, _ user: ID<User>, against truth: Replica, isWhole: Bool = true,
    isProven: Bool = false
  ) {
    // Who begins anew compares words, and not who has marked them.
    let differences = held.differences(from: truth, isWhole: isWhole, withReadPositions: isProven || !hasForgotten)
    for difference in differences.prefix(4) { fail("\(name) \(difference)") }
    for (id, conversation) in held.conversations where conversation.isOwn {
      guard let start = audit.start(of: user, in: id) else {
        fail("\(name) holds conversation \(id), which is not theirs")
        continue
      }
      guard let first = conversation.messages.keys.min(), first < start else { continue }
      fail("\(name) holds message \(first) of \(id), and begins at \(start)")
    }
  }
}
