import ParleyModel
import Testing

@testable import PubSub

/// A reference to a value, so that `#expect` can mutate it.
@dynamicMemberLookup
private final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
  subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

extension Box where Value == TypingBoard {
  func begin(_ user: ID<User>, in conversation: ID<Conversation>, now: Int64) -> Bool {
    value.begin(user, in: conversation, now: now)
  }
  func end(_ user: ID<User>, in conversation: ID<Conversation>?) -> [ID<Conversation>] {
    value.end(user, in: conversation)
  }
  func expire(now: Int64) -> [(ID<User>, ID<Conversation>)] { value.expire(now: now) }
}

extension Box where Value == PresenceBoard {
  func update(_ device: AnyObject, of user: ID<User>, _ presence: Signal.Presence, now: Int64) -> Signal.Presence? {
    value.update(ObjectIdentifier(device), of: user, presence, now: now)
  }
  func expire(now: Int64) -> [(ID<User>, Signal.Presence)] { value.expire(now: now) }
}

@Suite struct TypingBoardTests {
  private let ada = ID<User>(1)
  private let grace = ID<User>(2)
  private let garden = ID<Conversation>(10)
  private let kitchen = ID<Conversation>(11)

  @Test func `typing is announced once and expires six seconds after the last signal`() {
    let board = Box(TypingBoard())
    #expect(board.begin(ada, in: garden, now: 0))
    #expect(!board.begin(ada, in: garden, now: 4_000))
    #expect(board.expire(now: 9_999).isEmpty)
    let over = board.expire(now: 10_000)
    #expect(over.count == 1 && over[0] == (ada, garden))
    #expect(board.expire(now: 20_000).isEmpty)
    #expect(board.begin(ada, in: garden, now: 20_000))
  }

  @Test func `typing ends after a message or a disconnect`() {
    let board = Box(TypingBoard())
    _ = board.begin(ada, in: garden, now: 0)
    _ = board.begin(ada, in: kitchen, now: 0)
    _ = board.begin(grace, in: garden, now: 0)
    #expect(board.end(ada, in: garden) == [garden])
    #expect(board.end(ada, in: garden) == [])
    #expect(board.end(ada, in: nil) == [kitchen])
    #expect(board.expire(now: 6_000).map(\.0) == [grace])
  }

  @Test func `entries are limited`() {
    let board = Box(TypingBoard())
    let isNew = (0..<TypingBoard.maxEntries).map { board.begin(ID($0), in: garden, now: 0) }
    #expect(!isNew.contains(false))
    let isOneMore = board.begin(ID(TypingBoard.maxEntries), in: garden, now: 0)
    #expect(!isOneMore)
    #expect(board.expire(now: TypingBoard.time).count == TypingBoard.maxEntries)
    let isAfterwards = board.begin(ID(TypingBoard.maxEntries), in: garden, now: TypingBoard.time)
    #expect(isAfterwards)
  }

  @Test func `entries per user are limited`() {
    let board = Box(TypingBoard())
    let isNew = (0..<TypingBoard.maxEntriesPerUser).map { board.begin(ada, in: ID($0 + 1), now: 0) }
    #expect(!isNew.contains(false))
    #expect(!board.begin(ada, in: ID(1_000), now: 0))
    #expect(board.begin(grace, in: ID(1_000), now: 0))
    #expect(board.end(ada, in: ID(1)) == [ID(1)])
    #expect(board.begin(ada, in: ID(1_000), now: 0))
  }
}

@Suite struct PresenceBoardTests {
  private final class Device {}
  private let ada = ID<User>(1)

  @Test func `a user is online with the first device and offline after the last and a grace period`() {
    let board = Box(PresenceBoard())
    let (phone, desk) = (Device(), Device())
    #expect(board.update(phone, of: ada, .online, now: 0) == .online)
    #expect(board.update(desk, of: ada, .online, now: 0) == nil)
    #expect(board.update(phone, of: ada, .away, now: 1) == nil)
    #expect(board.update(desk, of: ada, .away, now: 1) == .away)
    #expect(board.update(desk, of: ada, .offline, now: 2) == nil)
    #expect(board.update(phone, of: ada, .offline, now: 3) == nil)
    #expect(board.value.published(of: ada) == .away)
    #expect(board.expire(now: 2 + PresenceBoard.grace).isEmpty)
    // A page reload.
    #expect(board.update(desk, of: ada, .away, now: 4) == nil)
    #expect(board.expire(now: 3 + PresenceBoard.grace).isEmpty)
    #expect(board.update(desk, of: ada, .offline, now: 20_000) == nil)
    let gone = board.expire(now: 20_000 + PresenceBoard.grace)
    #expect(gone.count == 1 && gone[0] == (ada, .offline) && board.present.isEmpty)
  }

  @Test func `frequent presence changes are throttled`() {
    let board = Box(PresenceBoard())
    let desk = Device()
    var published = 0
    for round in 0..<100 {
      if board.update(desk, of: ada, round.isMultiple(of: 2) ? .online : .away, now: 0) != nil { published += 1 }
    }
    #expect(published == Int(PresenceBoard.burst))
    #expect(board.value.published(of: ada) == .online)
    // The final presence is published later.
    #expect(board.expire(now: PresenceBoard.pause - 1).isEmpty)
    let delayed = board.expire(now: PresenceBoard.pause)
    #expect(delayed.count == 1 && delayed[0] == (ada, .away) && board.value.published(of: ada) == .away)
    #expect(board.expire(now: 10 * PresenceBoard.pause).isEmpty)
    // A clock that is set back delays no update.
    #expect(board.update(desk, of: ada, .online, now: -86_400_000) == .online)
  }
}
