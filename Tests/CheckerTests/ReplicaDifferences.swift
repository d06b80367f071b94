import ParleyModel

extension Replica {
  /// In what it is not the other; of messages all, or those that are held here and the last one, with the marks on them or
  /// without.
  func differences(from other: Replica, isWhole: Bool = true, withReadPositions: Bool = true) -> [String] {
    var found: [String] = []
    func compare<Value: Equatable>(_ what: String, _ mine: Value, _ theirs: Value) {
      if mine != theirs { found.append("holds of \(what): \(mine); and it is: \(theirs)") }
    }
    compare("themselves", me?.summary.role, other.me?.summary.role)
    compare("the settings", settings, other.settings)
    compare("levels", levels, other.levels)
    compare("relations", relations, other.relations)
    compare("the inbox", inbox, other.inbox)
    for id in Set(forums.keys).union(other.forums.keys).sorted() {
      compare("forum \(id)", forums[id]?.role, other.forums[id]?.role)
      compare("forum \(id)", forums[id]?.forum.revision, other.forums[id]?.forum.revision)
    }
    let (mine, theirs) = (conversations.filter { $0.value.isOwn }, other.conversations.filter { $0.value.isOwn })
    for id in Set(mine.keys).union(theirs.keys).sorted() {
      guard let one = mine[id], let two = theirs[id] else {
        found.append(mine[id] == nil ? "lacks conversation \(id)" : "holds conversation \(id), which is not theirs")
        continue
      }
      compare("conversation \(id)", one.conversation, two.conversation)
      compare("their part in \(id)", one.participation, two.participation)
      compare("their mark in \(id)", one.readPosition, two.readPosition)
      compare("what waits in \(id)", one.unread, two.unread)
      let last = Set([two.conversation.lastSeq].filter { two.messages[$0] != nil })
      let seqs = isWhole ? Set(two.messages.keys) : last
      for seq in seqs.union(one.messages.keys).sorted() {
        guard withReadPositions else {
          compare("message \(seq) of \(id)", one.messages[seq]?.message.bare, two.messages[seq]?.message.bare)
          continue
        }
        compare("message \(seq) of \(id)", one.messages[seq]?.message, two.messages[seq]?.message)
        compare("their marks on \(seq) of \(id)", one.messages[seq]?.own, two.messages[seq]?.own)
      }
    }
    return found
  }
}

extension Message {
  /// Without what others have marked it with.
  fileprivate var bare: Message {
    guard case .live(var content) = state else { return self }
    var bare = self
    content.actions = []
    bare.state = .live(content)
    return bare
  }
}

extension HeldMessage {
  /// Of a message that has gone nobody asks who had marked it.
  fileprivate var own: Set<String> { message.tombstone == nil ? mine ?? [] : [] }
}
