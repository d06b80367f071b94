@testable import ParleyModel

extension Replica {
  /// The differences from another replica: in all messages, or in the cached ones and the last one; with or without
  /// actions.
  func differences(from other: Replica, isWhole: Bool = true, withReadPositions: Bool = true) -> [String] {
    var found: [String] = []
    func compare<Value: Equatable>(_ name: String, _ mine: Value, _ theirs: Value) {
      if mine != theirs { found.append("has \(name): \(mine); expected: \(theirs)") }
    }
    compare("the own role", me?.summary.role, other.me?.summary.role)
    compare("the settings", settings, other.settings)
    compare("levels", levels, other.levels)
    compare("relations", relations, other.relations)
    compare("the inbox", inbox, other.inbox)
    for id in Set(forums.keys).union(other.forums.keys).sorted() {
      compare("forum \(id)", forums[id]?.role, other.forums[id]?.role)
      compare("forum \(id)", forums[id]?.forum.lasting, other.forums[id]?.forum.lasting)
    }
    for id in Set(users.keys).intersection(other.users.keys).sorted() {
      compare("user \(id)", users[id]?.summary.lasting, other.users[id]?.summary.lasting)
    }
    let (mine, theirs) = (conversations.filter { $0.value.isOwn }, other.conversations.filter { $0.value.isOwn })
    for id in Set(mine.keys).union(theirs.keys).sorted() {
      guard let one = mine[id], let two = theirs[id] else {
        found.append(mine[id] == nil ? "has no conversation \(id)" : "has conversation \(id) without permission")
        continue
      }
      compare("conversation \(id)", one.conversation, two.conversation)
      compare("the participation in \(id)", one.participation, two.participation)
      compare("the read position in \(id)", one.readPosition, two.readPosition)
      compare("the unread count of \(id)", one.unread, two.unread)
      let last = Set([two.conversation.lastSeq].filter { two.messages[$0] != nil })
      let seqs = isWhole ? Set(two.messages.keys) : last
      for seq in seqs.union(one.messages.keys).sorted() {
        guard withReadPositions else {
          compare("message \(seq) of \(id)", one.messages[seq]?.message.bare, two.messages[seq]?.message.bare)
          continue
        }
        compare("message \(seq) of \(id)", one.messages[seq]?.message, two.messages[seq]?.message)
        compare("the own actions on \(seq) of \(id)", one.messages[seq]?.own, two.messages[seq]?.own)
      }
    }
    return found
  }
}

extension Message {
  /// Without actions.
  fileprivate var bare: Message {
    guard case .live(var content) = state else { return self }
    var bare = self
    content.actions = []
    bare.state = .live(content)
    return bare
  }
}

extension ReplicaMessage {
  /// The own actions of a tombstone are not compared.
  fileprivate var own: Set<String> { message.tombstone == nil ? mine ?? [] : [] }
}

extension Forum {
  /// Without the newest message, which no event of the forum announces.
  fileprivate var lasting: Forum {
    var forum = self
    forum.lastMessage = nil
    return forum
  }
}

extension UserSummary {
  /// Without what only some responses have.
  fileprivate var lasting: UserSummary {
    var user = self
    user.bioEntities = nil
    return user
  }
}
