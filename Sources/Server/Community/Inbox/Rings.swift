// Whom a message calls away from what they do. It is asked in the transaction that stores the message, and says nothing of
// what is done with the answer.

import ParleyModel
import Storage

/// Why a message rings somebody.
enum Ring: String, Sendable, Hashable {
  case mention, reply
  /// It stands in a conversation of two.
  case direct
  /// Everyone in the forum was called.
  case room
}

/// Whom a message rings.
struct Rings: Sendable, Hashable {
  struct Person: Sendable, Hashable {
    let account: ID<Account>
    let why: Ring
  }

  /// Those whom it calls one by one, each once: at most `Bounds.mentions` and two more.
  var people: [Person] = []
  /// Where it calls everyone: the forum whose members it rings too, as many as there are. They are asked for in parts,
  /// by `ringableMembers`, and some of them may stand among `people`.
  var forum: ID<Forum>?
}

extension ReadTransaction {
  /// Whom a message rings that is being stored, and why. Who is called and answered is rung once, as called. Nobody is
  /// rung by themselves, by whom they muted or blocked, in what they can't read, or where they want to hear nothing.
  func rings(of message: NewMessage) throws(Refusal) -> Rings {
    var rings = Rings()
    guard message.kind == .message, !message.isMachineOnly else { return rings }
    if message.text.callsRoom { rings.forum = try forum(of: message.conversation) }
    // That they may read it was asked when the text was read.
    for person in message.text.mentions { try add(person, .mention, of: message, to: &rings) }
    if let answered = try message.replyTo.flatMap({ id throws(Refusal) in try author(of: id) }),
      try mayRead(answered, message.conversation)
    {
      try add(answered, .reply, of: message, to: &rings)
    }
    for person in try others(in: message) { try add(person, .direct, of: message, to: &rings) }
    return rings
  }

  private func add(
    _ person: ID<Account>, _ why: Ring, of message: NewMessage, to rings: inout Rings
  ) throws(Refusal) {
    guard person != message.author, !rings.people.contains(where: { $0.account == person }),
      let level = try hearing(of: person, from: message.author, in: message.conversation)
    else { return }
    switch (level, why) {
    case (.everything, _), (.mentions, .mention), (.mentions, .reply), (.mentions, .room):
      rings.people.append(.init(account: person, why: why))
    case (.mentions, .direct), (.nothing, _): break
    }
  }

  private func mayRead(_ person: ID<Account>, _ conversation: ID<Conversation>) throws(Refusal) -> Bool {
    guard let role = try self.person(person)?.account.role, let standing = try standing(of: person, in: conversation)
    else { return false }
    return Permissions.rights(of: role, in: standing).contains(.read)
  }

  /// The other one, in a conversation of two.
  private func others(in message: NewMessage) throws(Refusal) -> [ID<Account>] {
    guard try standing(of: message.author, in: message.conversation)?.kind == .direct else { return [] }
    return try participants(of: message.conversation, after: nil, limit: 2).map(\.account)
  }
}
