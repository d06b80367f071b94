import Foundation
import SQLite
@testable import Storage

/// A folder in which writers crash one after the other, and what they were told before.
final class Ledger {
  let folder: String
  private var told: [String: Place] = [:]
  /// Sent, and not known whether it arrived.
  private(set) var open: Set<String> = []
  private var round = 0
  /// What was wrong with what a writer was told.
  private var lies: [String] = []

  struct Place: Hashable {
    let id: Int
    let seq: Int
  }

  static let migrations = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Migrations/sqlite").path

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "parley-crash-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var toldCount: Int { told.count }

  /// Two people and three conversations.
  func plant() async throws {
    try await start()
    let connection = try Connection.writer(folder + "/parley.db")
    defer { connection.close() }
    try connection.executeScript(
      """
      insert into account (id, name, name_key, role, state, created_at)
      values (1, 'ada', 'ada', 'member', 'active', 1), (2, 'grace', 'grace', 'member', 'active', 1);
      insert into conversation (id, kind, created_by, created_at) values (3, 'group', 1, 1), (4, 'group', 1, 1), (5, 'group', 1, 1);
      update counter set value = 5 where name = 'id';
      """)
  }

  /// As a daemon would, to the end.
  func start() async throws {
    try await Store(try DataFolder(folder), migrations: Self.migrations, clock: { 1_800_000_000_000 }).close()
  }

  /// Has one more process crash, with so many writers.
  func crash(_ moment: CrashingWriter.Moment, writers: Int = 8, lies: Bool = false) async throws {
    round += 1
    let again = open.sorted()
    let arguments = [Self.migrations, String(round), String(writers)] + again
    let folder = folder
    let lines = try await onThreadOfItsOwn {
      let writer = try CrashingWriter(in: folder, arguments: arguments, lies: lies)
      writer.run(until: moment)
      return writer.lines
    }
    for line in lines { take(line) }
    // Each writer had one more under way.
    for writer in 0..<writers {
      let last = told.keys.filter { $0.hasPrefix("\(round).\(writer).") }.compactMap {
        Int($0.split(separator: ".")[2])
      }.max()
      open.insert("\(round).\(writer).\((last ?? 0) + 1)")
    }
  }

  private func take(_ line: String) {
    if line == "open" { return }
    let words = line.split(separator: " ").map(String.init)
    guard words.first == "ack", words.count == 4, let id = Int(words[2]), let seq = Int(words[3]) else {
      return lies.append("a writer was told: \(line)")
    }
    let place = Place(id: id, seq: seq)
    if let before = told.updateValue(place, forKey: words[1]), before != place {
      lies.append("\(words[1]) was acknowledged as \(before), and again as \(place)")
    }
    open.remove(words[1])
  }

  /// What is not as it was told, or not as a database should be: nothing, if every promise was kept.
  ///
  /// The search index takes longer to check than all else together, so most rounds leave it out.
  func faults(inSearch isSearched: Bool = true) throws -> [String] {
    var faults = lies
    let checks = Check.ofPicture.filter { isSearched || $0.name != Check.search.name }
    for finding in try Verification(folder).run(checks, all: true) {
      faults += finding.faults.map { "\(finding.check): \($0)" }
    }
    let found = try messages()
    for (clientID, place) in told where found[clientID] != [place] {
      faults.append("\(clientID) was acknowledged as \(place), and there is \(found[clientID] ?? [])")
    }
    for (clientID, places) in found where told[clientID] == nil {
      if !open.contains(clientID) { faults.append("\(clientID) was never sent") }
      if places.count > 1 { faults.append("\(clientID) is there \(places.count) times") }
    }
    return faults
  }

  private func messages() throws -> [String: [Place]] {
    let connection = try Connection.reader(folder + "/parley.db")
    defer { connection.close() }
    let rows = try connection.all("select client_id, id, seq from message") { row in
      (try row.text(0), Place(id: try row.int(1), seq: try row.int(2)))
    }
    return Dictionary(grouping: rows, by: \.0).mapValues { $0.map(\.1) }
  }
}

/// For what blocks: the shared pool has few threads.
private func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
