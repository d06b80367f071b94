import ParleyModel

/// Who is writing where. Time is an argument, in milliseconds.
struct TypingBoard {
  private var ends: [ID<Account>: [ID<Conversation>: Int64]] = [:]
  private var count = 0

  /// So long after it was last said somebody is taken to have stopped. A client says it again every four seconds.
  static let time: Int64 = 6_000
  /// Beyond this nobody is noted who is not yet: signals are what is left out first.
  static let most = 10_000
  /// The same of one person, who writes in one place at a time.
  static let mostEach = 32

  /// Whether it is news.
  mutating func begin(_ account: ID<Account>, in conversation: ID<Conversation>, now: Int64) -> Bool {
    let places = ends[account] ?? [:]
    let isNew = places[conversation] == nil
    guard !isNew || (count < Self.most && places.count < Self.mostEach) else { return false }
    ends[account, default: [:]][conversation] = now + Self.time
    if isNew { count += 1 }
    return isNew
  }

  /// Where they had been writing.
  mutating func end(_ account: ID<Account>, in conversation: ID<Conversation>?) -> [ID<Conversation>] {
    guard let places = ends[account] else { return [] }
    let ended = conversation.map { [$0] } ?? places.keys.sorted()
    return ended.filter { remove($0, of: account) }
  }

  private mutating func remove(_ conversation: ID<Conversation>, of account: ID<Account>) -> Bool {
    guard ends[account]?.removeValue(forKey: conversation) != nil else { return false }
    count -= 1
    if ends[account]?.isEmpty == true { ends[account] = nil }
    return true
  }

  mutating func expire(now: Int64) -> [(ID<Account>, ID<Conversation>)] {
    var over: [(ID<Account>, ID<Conversation>)] = []
    for (account, places) in ends {
      for (conversation, end) in places where end <= now && remove(conversation, of: account) {
        over.append((account, conversation))
      }
    }
    return over
  }
}
