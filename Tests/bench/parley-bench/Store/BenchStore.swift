import ParleyCrypto
import ParleyModel
import ParleyNetworking
import ParleySQLite
import Storage

/// A data folder for measuring: 64 people who write and 1,936 who read, one long conversation, eight busy ones and three
/// small ones. Those who write take part everywhere, and the first of them owns the place.
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

  /// Fills an empty folder: so many messages in the long conversation and a few in each of the small ones, so many more
  /// people and forums, and so many people whom loads come as.
  static func plant(_ folder: String, messages: Int, forums: Int, crowd: Int) async throws {
    try makePlaces(folder, crowd: crowd)
    let store = try BenchStore(folder).store
    try await addForums(forums, to: store)
    for (number, place) in small.enumerated() { try await fill(place, store, messagesInSmall, seed: number + 1) }
    try await fill(long, store, messages, seed: 4)
    await store.close()
  }

  /// Nobody's verbs: there is no API of the store for people and conversations without rules.
  private static func makePlaces(_ path: String, crowd: Int) throws {
    let folder = try DataFolder(path)
    guard try !Schema.migrate(folder, migrations: migrations, at: milliseconds()).isEmpty else {
      throw LoadError(description: "\(path) has a database already.")
    }
    let connection = try Connection.writer(folder.database)
    defer { connection.close() }
    let now = Int(milliseconds())
    try connection.transaction {
      for person in people + readers {
        try connection.add(person, "person\(person)", person == people[0] ? "owner" : "member", at: now)
      }
      for place in [long] + busy + small { try connection.add(place, people, at: now) }
      try connection.addCrowd(crowd, at: now)
      let last = crowd > 0 ? Crowd.lastID(of: crowd) : readers[readers.count - 1].number
      try connection.execute("update counter set value = $1 where name = 'id'", last)
    }
  }

  /// As many forums, each led by somebody of its own.
  private static func addForums(_ count: Int, to store: Store) async throws {
    for first in stride(from: 1, through: count, by: atOnce) {
      try await store.write { tx throws(Refusal) in
        for number in first...min(first + atOnce - 1, count) {
          let lead = try tx.add(NewAccount(name: "lead\(number)", role: .member))
          _ = try tx.add(ForumDraft(title: "Forum \(number)", visibility: .members), by: lead)
        }
      }
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

extension Connection {
  fileprivate func add(_ person: ID<Account>, _ name: String, _ role: String, at now: Int) throws {
    try execute(
      """
      insert into account (id, name, name_key, role, state, created_at)
      values ($1, $2, $2, $3, 'active', $4)
      """, person.number, name, role, now)
  }

  /// A group; the first one leads it.
  fileprivate func add(_ group: ID<Conversation>, _ people: [ID<Account>], at now: Int) throws {
    guard let lead = people.first else { return }
    try execute(
      """
      insert into conversation (id, kind, created_by, created_at)
      values ($1, 'group', $2, $3)
      """, group.number, lead.number, now)
    for person in people {
      try execute(
        """
        insert into participant (conversation_id, user_id, role, joined_at)
        values ($1, $2, $3, $4)
        """, group.number, person.number, person == lead ? "admin" : "member", now)
    }
  }

  /// They have been here for a year, so that nobody takes them for newcomers.
  fileprivate func addCrowd(_ count: Int, at now: Int) throws {
    guard count > 0 else { return }
    let then = now - 365 * 86_400_000
    let people = (0..<count).map { Crowd.person($0) }
    for (place, person) in people.enumerated() {
      try add(person, "crowd\(place)", "member", at: then)
      try execute(
        """
        insert into session (id, user_id, kind, digest, name, scope, created_at)
        values ($1, $2, 'token', $3, 'bench', 'write', $4)
        """, Crowd.session(place, of: count).number, person.number, Digest.sha256(of: Array(Crowd.token(place).utf8)),
        then)
    }
    for room in Crowd.rooms { try add(room.id, Array(people.prefix(room.size)), at: then) }
    for place in 0..<count {
      let circle = (0..<min(Crowd.circles, count)).map { people[(place + $0) % count] }
      try add(Crowd.circle(place, of: count), circle, at: then)
    }
  }
}
