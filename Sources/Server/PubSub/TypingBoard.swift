import ParleyModel

/// The users who are typing, by conversation. Time is an argument, in milliseconds.
struct TypingBoard {
  private var ends: [ID<User>: [ID<Conversation>: Int64]] = [:]
  private var count = 0

  /// The timeout after the last `begin`. A client repeats the signal every four seconds.
  static let time: Int64 = 6_000
  /// The maximum number of entries. Beyond it new entries are dropped: signals are lossy and shed first.
  static let maxEntries = 10_000
  /// The maximum number of entries of one user.
  static let maxEntriesPerUser = 32

  /// Returns whether the user was not yet typing there.
  mutating func begin(_ user: ID<User>, in conversation: ID<Conversation>, now: Int64) -> Bool {
    let conversations = ends[user] ?? [:]
    let isNew = conversations[conversation] == nil
    guard !isNew || (count < Self.maxEntries && conversations.count < Self.maxEntriesPerUser) else { return false }
    ends[user, default: [:]][conversation] = now + Self.time
    if isNew { count += 1 }
    return isNew
  }

  /// Returns the conversations in which the user was typing.
  mutating func end(_ user: ID<User>, in conversation: ID<Conversation>?) -> [ID<Conversation>] {
    guard let conversations = ends[user] else { return [] }
    let ended = conversation.map { [$0] } ?? conversations.keys.sorted()
    return ended.filter { remove($0, of: user) }
  }

  private mutating func remove(_ conversation: ID<Conversation>, of user: ID<User>) -> Bool {
    guard ends[user]?.removeValue(forKey: conversation) != nil else { return false }
    count -= 1
    if ends[user]?.isEmpty == true { ends[user] = nil }
    return true
  }

  mutating func expire(now: Int64) -> [(ID<User>, ID<Conversation>)] {
    var expired: [(ID<User>, ID<Conversation>)] = []
    for (user, conversations) in ends {
      for (conversation, end) in conversations where end <= now && remove(conversation, of: user) {
        expired.append((user, conversation))
      }
    }
    return expired
  }
}
