import Foundation
import ParleySQLite
import TestSupport
@testable import Storage

/// A folder in which writers crash in sequence, and the record of their acknowledgements.
final class Ledger {
  let folder: String
  private var acknowledged: [String: AcknowledgedMessage] = [:]
  /// Sent and not acknowledged.
  private var open: Set<String> = []
  private var round = 0
  /// Wrong acknowledgements.
  private var lies: [String] = []

  static let migrations = Checkout.migrations

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "parley-crash-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var messageCount: Int { acknowledged.count }

  /// The number of answered changes.
  private(set) var changeCount = 0

  /// The first sends of the next writer: those not acknowledged, and the last acknowledged ones, so that it changes
  /// those too.
  var again: [String] {
    open.sorted() + acknowledged.values.sorted { $0.position.id < $1.position.id }.suffix(8).map(\.clientID)
  }

  /// Creates two users and three conversations.
  func plant() async throws {
    try await start()
    let connection = try Connection.writer(folder + "/parley.db")
    defer { connection.close() }
    try connection.executeScript(
      """
      insert into account (id, name, name_key, role, state, created_at)
      values (1, 'ada', 'ada', 'member', 'active', 1), (2, 'grace', 'grace', 'member', 'active', 1);
      insert into user_term (term, user_id) values ('ada', 1), ('grace', 2);
      insert into conversation (id, kind, created_by, created_at) values (3, 'group', 1, 1), (4, 'group', 1, 1), (5, 'group', 1, 1);
      update counter set value = 5 where name = 'id';
      """)
  }

  /// Starts and stops like a daemon.
  func start() async throws {
    try await Store(try DataFolder(folder), migrations: Self.migrations, clock: { 1_800_000_000_000 }).close()
  }

  /// Runs and kills one more process with this many writers.
  func crash(_ moment: CrashingWriter.Moment, writers: Int = 8, lies: String? = nil) async throws {
    round += 1
    let arguments = [Self.migrations, String(round), String(writers)] + again
    let folder = folder
    let lines = try await onNewThread {
      let writer = try CrashingWriter(in: folder, arguments: arguments, lies: lies)
      writer.run(until: moment)
      return writer.lines
    }
    for line in lines { take(line) }
    // Each writer had one more send in progress.
    for writer in 0..<writers {
      let last = acknowledged.keys.filter { $0.hasPrefix("\(round).\(writer).") }.compactMap {
        Int($0.split(separator: ".")[2])
      }.max()
      open.insert("\(round).\(writer).\((last ?? 0) + 1)")
    }
  }

  private func take(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    switch (words[0], words.count) {
    case ("open", 1): return
    case ("ack", 4):
      guard let id = Int(words[2]), let seq = Int(words[3]) else { break }
      return acknowledge(words[1], at: AcknowledgedMessage.Position(id: id, seq: seq))
    case ("change", 3...):
      guard let change = Change(words.dropFirst(2)), acknowledged[words[1]] != nil else { break }
      acknowledged[words[1]]?.begin(change)
      return
    case ("changed", 3):
      guard let revision = Int(words[2]) else { break }
      return answer(words[1], .revision(revision), line)
    case ("refused", 3): return answer(words[1], .refused(words[2]), line)
    default: break
    }
    lies.append("unexpected line: \(line)")
  }

  private func acknowledge(_ clientID: String, at position: AcknowledgedMessage.Position) {
    open.remove(clientID)
    guard let before = acknowledged[clientID]?.position else {
      acknowledged[clientID] = AcknowledgedMessage(clientID, at: position)
      return
    }
    if before != position { lies.append("\(clientID) was acknowledged as \(before), and again as \(position)") }
  }

  private func answer(_ clientID: String, _ answer: Change.Answer, _ line: String) {
    guard acknowledged[clientID] != nil else { return lies.append("unexpected answer: \(line)") }
    changeCount += 1
    if let fault = acknowledged[clientID]?.finish(answer) { lies.append(fault) }
  }

  /// The differences from the acknowledged state, and the faults of the database.
  ///
  /// Checking the search index takes longer than all other checks, so most rounds skip it.
  func faults(inSearch isSearched: Bool = true) throws -> [String] {
    var faults = lies
    let checks = Check.ofSnapshot.filter { isSearched || $0.name != Check.search.name }
    for finding in try Verification(folder).run(checks, all: true) {
      faults += finding.faults.map { "\(finding.check): \($0)" }
    }
    let found = try FoundMessage.all(in: folder)
    faults += acknowledged.keys.compactMap { clientID in acknowledged[clientID]?.settle(found[clientID] ?? []) }
    for (clientID, messages) in found where acknowledged[clientID] == nil {
      if !open.contains(clientID) { faults.append("\(clientID) was never sent") }
      if messages.map(\.message) != [ExpectedMessage(text: Change.text(clientID))] {
        faults.append("\(clientID) was not acknowledged, and stands at \(messages.map(\.message))")
      }
    }
    return faults
  }
}

/// For blocking calls: the shared pool has few threads.
private func onNewThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
