import Foundation
import ParleyModel
import ParleySQLite
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// A store in a temporary folder, with two users and one conversation.
final class Garden: Sendable {
  let folder: String
  /// Whether the folder is deleted with the garden.
  private let ownsFolder: Bool
  let store: Store
  let delivered: Delivered
  /// The log lines.
  let logLines: Lines
  /// Without slow writes that were kept: on a slow machine any write may be slow.
  var refusals: [String] { logLines.all.filter { !$0.hasSuffix("it is work for a job") } }
  let clock: Watch
  static let ada = ID<User>(1)
  static let grace = ID<User>(2)
  static let room = ID<Conversation>(3)

  /// The delivered events, in order.
  final class Delivered: Sendable {
    private let events = Mutex<[Event]>([])
    func add(_ more: [Event]) { events.withLock { $0 += more } }
    var all: [Event] { events.withLock { $0 } }
  }

  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  /// Advances only when a test does it.
  final class Watch: Sendable {
    private let time: Mutex<Int64>

    init(_ now: Int64) { time = Mutex(now) }

    var now: Int64 { time.withLock { $0 } }
    func pass(seconds: Int64) { time.withLock { $0 += seconds * 1_000 } }
  }

  static let migrations = Checkout.migrations

  /// Uses `folder`, or a temporary one that is deleted with the garden. `now` is in milliseconds since 1970.
  init(
    in folder: String? = nil, vfs: String? = nil, jobs: [JobKind] = [], at now: Int64 = 1_800_000_000_000
  ) async throws {
    let path = folder ?? FileManager.default.temporaryDirectory.appending(path: "parley-\(UUID())").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    self.folder = path
    ownsFolder = folder == nil
    if ownsFolder, vfs == nil { try MigratedDatabase.copy(to: path) }
    let delivered = Delivered()
    self.delivered = delivered
    let (logLines, clock) = (Lines(), Watch(now))
    self.logLines = logLines
    self.clock = clock
    store = try Store(
      try DataFolder(path), migrations: Self.migrations, vfs: vfs, jobs: jobs, clock: { clock.now },
      deliver: { delivered.add($0.events) }, log: { logLines.add($0) })
    do {
      try await store.write { tx throws(Refusal) in try tx.plantGarden() }
    } catch {
      await store.close()
      throw error
    }
  }

  deinit { if ownsFolder { try? FileManager.default.removeItem(atPath: folder) } }

  func post(_ text: String, by author: ID<User> = Garden.ada, as clientID: String? = nil) async throws(Refusal)
    -> StoredMessage
  {
    let message = NewMessage(conversation: Self.room, author: author, clientID: clientID, text: text)
    return try await store.write { tx throws(Refusal) in try tx.post(message) }
  }

  /// The faults of the database; empty if it is sound.
  static func faults(in folder: String, besides check: String = "") throws -> [String] {
    try Verification(folder).run(all: true).filter { $0.check != check }.flatMap { finding in
      finding.faults.map { "\(finding.check): \($0)" }
    }
  }

  /// The messages of the room by client id.
  static func messages(in folder: String) throws -> [String: Int] {
    let connection = try Connection.reader(folder + "/parley.db")
    defer { connection.close() }
    let pairs = try connection.all("select client_id, id from message where client_id is not null") { row in
      (try row.text(0), try row.int(1))
    }
    return Dictionary(pairs, uniquingKeysWith: { _, _ in -1 })
  }
}

extension WriteTransaction {
  fileprivate func plantGarden() throws(Refusal) {
    try run { connection in
      guard try connection.first("select id from account where id = 1", read: { try $0.int(0) }) == nil else { return }
      for (id, name) in [(1, "ada"), (2, "grace")] {
        try connection.execute(
          """
          insert into account (id, name, name_key, role, state, created_at)
          values ($1, $2, $3, 'member', 'active', $4)
          """, id, name, name, Int(now))
        try UserTermIndex.set([name], of: id, connection)
      }
      try connection.execute(
        "insert into conversation (id, kind, created_by, created_at) values ($1, 'group', 1, $2)", 3, Int(now))
    }
    counters.id = max(counters.id, 3)
  }
}
