import ParleyCrypto
import ParleyModel
import ParleyNetworking
import ParleySQLite
import Storage

/// A data folder for benchmarks: 64 posting and 1,936 reading users, one long conversation, eight busy ones and three
/// small ones. The posting users participate in all of them; the first one is the owner.
struct BenchStore {
  let store: Store

  static let users = (1...64).map { ID<User>($0) }
  static let long = ID<Conversation>(65)
  static let busy = (66...73).map { ID<Conversation>($0) }
  static let small = (74...76).map { ID<Conversation>($0) }
  static let readers = (77...2_012).map { ID<User>($0) }
  private static let messagesInSmall = 300
  /// One of this many messages causes a notification, one of this many has the hashtag.
  private static let messagesPerNotification = 10
  private static let messagesPerHashtag = 1_000
  static let hashtag = "harvest"
  /// Messages per write closure, and parallel closures.
  private static let batchSize = 100
  private static let parallelWriters = 16

  init(_ folder: String) throws {
    store = try Store(
      try DataFolder(folder), migrations: Self.migrations, clock: Self.milliseconds,
      log: { Console.log($0) })
  }

  /// Relative to the checkout, the working directory of benchmarks.
  private static var migrations: String { "Migrations/sqlite" }

  @Sendable private static func milliseconds() -> Int64 { Clock.wall() / 1_000_000 }

  // MARK: Planting

  /// Fills an empty folder: messages in the long and the small conversations, forums, and `crowd` users for loads.
  static func plant(_ folder: String, messages: Int, forums: Int, crowd: Int) async throws {
    try createSite(folder, crowd: crowd)
    let store = try BenchStore(folder).store
    try await addForums(forums, to: store)
    for (number, conversation) in small.enumerated() {
      try await fill(conversation, store, messagesInSmall, seed: number + 1)
    }
    try await fill(long, store, messages, seed: 4)
    await store.close()
  }

  /// Inserts users and conversations with SQL: the store's API does not offer this without rules.
  private static func createSite(_ path: String, crowd: Int) throws {
    let folder = try DataFolder(path)
    guard try !Schema.migrate(folder, migrations: migrations, at: milliseconds()).isEmpty else {
      throw LoadError(description: "\(path) has a database already.")
    }
    let connection = try Connection.writer(folder.database)
    defer { connection.close() }
    let now = Int(milliseconds())
    try connection.transaction {
      for user in users + readers {
        try connection.add(user, "person\(user)", user == users[0] ? "owner" : "member", at: now)
      }
      for conversation in [long] + busy + small { try connection.add(conversation, users, at: now) }
      try connection.addCrowd(crowd, at: now)
      let last = crowd > 0 ? BenchUsers.lastID(of: crowd) : readers[readers.count - 1].number
      try connection.execute("update counter set value = $1 where name = 'id'", last)
    }
  }

  /// Adds forums, each with an admin of its own.
  private static func addForums(_ count: Int, to store: Store) async throws {
    for first in stride(from: 1, through: count, by: batchSize) {
      try await store.write { tx throws(Refusal) in
        for number in first...min(first + batchSize - 1, count) {
          let lead = try tx.add(NewUser(name: "lead\(number)", role: .member))
          _ = try tx.add(ForumDraft(title: "Forum \(number)", visibility: .members), by: lead)
        }
      }
    }
  }

  private static func fill(_ conversation: ID<Conversation>, _ store: Store, _ count: Int, seed: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<parallelWriters {
        let share = count / parallelWriters + (writer < count % parallelWriters ? 1 : 0)
        group.addTask {
          var phrases = Phrases(seed: seed << 8 | writer)
          var remaining = share
          while remaining > 0 {
            let messages = (0..<min(remaining, batchSize)).map { _ in message(in: conversation, &phrases) }
            remaining -= messages.count
            let recipient = phrases.number(below: users.count + readers.count)
            try await store.write { tx throws(Refusal) in
              for (number, message) in messages.enumerated() {
                let posted = try tx.post(message)
                guard number.isMultiple(of: messagesPerNotification) else { continue }
                let all = users + readers
                try tx.addNotification(
                  .mention, of: all[(recipient + number) % all.count], in: conversation, message: posted.id,
                  by: message.author)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func message(in conversation: ID<Conversation>, _ phrases: inout Phrases) -> NewMessage {
    var message = NewMessage(
      conversation: conversation, author: users[phrases.number(below: users.count)], clientID: phrases.clientID(),
      text: phrases.text())
    if phrases.number(below: messagesPerHashtag) == 0 {
      message.text.entities = #"{"mentions":[],"hashtags":[],"links":[]}"#
      message.text.hashtags = [hashtag]
    }
    return message
  }

  // MARK: Posting

  /// Each writer posts, waits for durability and posts again. Returns the latencies.
  func post(writers: Int, seconds: Double) async throws -> Histogram {
    let end = Clock.monotonic() + Int64(seconds * 1e9)
    let store = self.store
    return try await withThrowingTaskGroup(of: Histogram.self) { group in
      for writer in 0..<writers {
        group.addTask {
          var times = Histogram()
          var phrases = Phrases(seed: Int(truncatingIfNeeded: Clock.monotonic()) &+ writer)
          let author = Self.users[writer % Self.users.count]
          let conversation = Self.busy[writer % Self.busy.count]
          var now = Clock.monotonic()
          while now < end {
            let message = NewMessage(
              conversation: conversation, author: author, clientID: phrases.clientID(), text: phrases.text())
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
  fileprivate func add(_ user: ID<User>, _ name: String, _ role: String, at now: Int) throws {
    try execute(
      """
      insert into account (id, name, name_key, role, state, created_at)
      values ($1, $2, $2, $3, 'active', $4)
      """, user.number, name, role, now)
  }

  /// Adds a group. The first user is its admin.
  fileprivate func add(_ group: ID<Conversation>, _ users: [ID<User>], at now: Int) throws {
    guard let lead = users.first else { return }
    try execute(
      """
      insert into conversation (id, kind, created_by, created_at)
      values ($1, 'group', $2, $3)
      """, group.number, lead.number, now)
    for user in users {
      try execute(
        """
        insert into participant (conversation_id, user_id, role, joined_at)
        values ($1, $2, $3, $4)
        """, group.number, user.number, user == lead ? "admin" : "member", now)
    }
  }

  /// Adds users with an age of one year, so that limits for new users do not apply.
  fileprivate func addCrowd(_ count: Int, at now: Int) throws {
    guard count > 0 else { return }
    let joinedAt = now - 365 * 86_400_000
    let users = (0..<count).map { BenchUsers.user($0) }
    for (index, user) in users.enumerated() {
      try add(user, "crowd\(index)", "member", at: joinedAt)
      try execute(
        """
        insert into session (id, user_id, kind, digest, name, scope, created_at)
        values ($1, $2, 'token', $3, 'bench', 'write', $4)
        """, BenchUsers.session(index, of: count).number, user.number,
        Digest.sha256(of: Array(BenchUsers.token(index).utf8)),
        joinedAt)
    }
    for room in BenchUsers.rooms { try add(room.id, Array(users.prefix(room.size)), at: joinedAt) }
    for index in 0..<count {
      let group = (0..<min(BenchUsers.groupsPerUser, count)).map { users[(index + $0) % count] }
      try add(BenchUsers.group(index, of: count), group, at: joinedAt)
    }
  }
}
