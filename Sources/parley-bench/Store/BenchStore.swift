import Model
import Networking
import SQLite
import Storage

/// A data folder for measuring: 64 people who write and 1,936 who read, one long conversation, eight busy ones and three
/// small ones.
struct BenchStore {
  let store: Store

  static let people = (1...64).map { ID<Account>($0) }
  static let long = ID<Conversation>(65)
  static let busy = (66...73).map { ID<Conversation>($0) }
  static let small = (74...76).map { ID<Conversation>($0) }
  static let readers = (77...2_012).map { ID<Account>($0) }
  private static let messagesInSmall = 300
  /// One message of so many waits for somebody, and one of so many has the hashtag.
  private static let messagesToEntry = 10
  private static let messagesToHashtag = 1_000
  static let hashtag = "harvest"
  /// How many messages one closure of the planting posts, and how many closures wait at once.
  private static let atOnce = 100
  private static let planters = 16

  init(_ folder: String) throws {
    store = try Store(
      try DataFolder(folder), migrations: Self.migrations, clock: Self.milliseconds,
      complain: { Console.complain($0) })
  }

  /// What stands in the checkout, where measuring is done.
  private static var migrations: String { "Migrations/sqlite" }

  @Sendable private static func milliseconds() -> Int64 { Clock.wall() / 1_000_000 }

  // MARK: Planting

  /// Fills an empty folder: so many messages in the long conversation and a few in each of the small ones.
  static func plant(_ folder: String, messages: Int) async throws {
    try makePlaces(folder)
    let store = try BenchStore(folder).store
    for (number, place) in small.enumerated() { try await fill(place, store, messagesInSmall, seed: number + 1) }
    try await fill(long, store, messages, seed: 4)
    await store.close()
  }

  /// Nobody's verbs: there is no API of the store for people and conversations without rules.
  private static func makePlaces(_ path: String) throws {
    let folder = try DataFolder(path)
    guard try !Schema.migrate(folder, migrations: migrations, at: milliseconds()).isEmpty else {
      throw LoadError(description: "\(path) has a database already.")
    }
    let connection = try Connection.writer(folder.database)
    defer { connection.close() }
    let now = Int(milliseconds())
    try connection.transaction {
      for person in people + readers {
        try connection.execute(
          """
          insert into account (id, name, name_key, role, state, created_at)
          values ($1, $2, $2, 'member', 'active', $3)
          """, person.number, "person\(person)", now)
      }
      for place in [long] + busy + small {
        try connection.execute(
          """
          insert into conversation (id, kind, created_by, created_at)
          values ($1, 'group', $2, $3)
          """, place.number, people[0].number, now)
      }
      try connection.execute("update counter set value = $1 where name = 'id'", readers[readers.count - 1].number)
    }
  }

  private static func fill(_ place: ID<Conversation>, _ store: Store, _ count: Int, seed: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for planter in 0..<planters {
        let share = count / planters + (planter < count % planters ? 1 : 0)
        group.addTask {
          var phrases = Phrases(seed: seed << 8 | planter)
          var rest = share
          while rest > 0 {
            let messages = (0..<min(rest, atOnce)).map { _ in message(in: place, &phrases) }
            rest -= messages.count
            let listener = phrases.number(below: people.count + readers.count)
            try await store.write { tx throws(Refusal) in
              for (number, message) in messages.enumerated() {
                let posted = try tx.post(message)
                guard number.isMultiple(of: messagesToEntry) else { continue }
                let all = people + readers
                try tx.addToInbox(
                  .mention, of: all[(listener + number) % all.count], in: place, message: posted.id, by: message.author)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func message(in place: ID<Conversation>, _ phrases: inout Phrases) -> NewMessage {
    var message = NewMessage(
      conversation: place, author: people[phrases.number(below: people.count)], clientID: phrases.clientID(),
      text: phrases.text())
    if phrases.number(below: messagesToHashtag) == 0 {
      message.text.entities = #"{"mentions":[],"hashtags":[],"links":[]}"#
      message.text.hashtags = [hashtag]
    }
    return message
  }

  // MARK: Posting

  /// Each writer posts, waits until it is on the disk, and posts again. The time of each is in the histogram.
  func post(writers: Int, seconds: Double) async throws -> Histogram {
    let end = Clock.monotonic() + Int64(seconds * 1e9)
    let store = self.store
    return try await withThrowingTaskGroup(of: Histogram.self) { group in
      for writer in 0..<writers {
        group.addTask {
          var times = Histogram()
          var phrases = Phrases(seed: Int(truncatingIfNeeded: Clock.monotonic()) &+ writer)
          let author = Self.people[writer % Self.people.count]
          let place = Self.busy[writer % Self.busy.count]
          var now = Clock.monotonic()
          while now < end {
            let message = NewMessage(
              conversation: place, author: author, clientID: phrases.clientID(), text: phrases.text())
            _ = try await store.write { tx throws(Refusal) in try tx.post(message) }
            let after = Clock.monotonic()
            times.record(after - now)
            now = after
          }
          return times
        }
      }
      var all = Histogram()
      for try await times in group { all.add(times) }
      return all
    }
  }
}
