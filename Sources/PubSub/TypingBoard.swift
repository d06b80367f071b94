import Model

/// Who is writing where. Time is an argument, in milliseconds.
struct TypingBoard {
  private struct Place: Hashable {
    let account: ID<Account>
    let conversation: ID<Conversation>
  }

  private var ends: [Place: Int64] = [:]

  /// So long after it was last said somebody is taken to have stopped. A client says it again every four seconds.
  static let time: Int64 = 6_000
  /// Beyond this nobody is noted who is not yet: signals are what is left out first.
  static let most = 10_000

  /// Whether it is news.
  mutating func begin(_ account: ID<Account>, in conversation: ID<Conversation>, now: Int64) -> Bool {
    let place = Place(account: account, conversation: conversation)
    let isNew = ends[place] == nil
    guard !isNew || ends.count < Self.most else { return false }
    ends[place] = now + Self.time
    return isNew
  }

  /// Where they had been writing.
  mutating func end(_ account: ID<Account>, in conversation: ID<Conversation>?) -> [ID<Conversation>] {
    if let conversation {
      return ends.removeValue(forKey: Place(account: account, conversation: conversation)) == nil ? [] : [conversation]
    }
    let places = ends.keys.filter { $0.account == account }
    for place in places { ends[place] = nil }
    return places.map(\.conversation).sorted()
  }

  mutating func expire(now: Int64) -> [(ID<Account>, ID<Conversation>)] {
    let over = ends.filter { $0.value <= now }.keys
    for place in over { ends[place] = nil }
    return over.map { ($0.account, $0.conversation) }
  }
}
