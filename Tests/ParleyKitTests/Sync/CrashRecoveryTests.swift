import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

/// The app is killed at every write to the cache: right before the commit and right after it. No message is lost or
/// duplicated.
@Suite struct CrashRecoveryTests {
  @Test(arguments: [true, false]) func `an app killed at any write resumes`(isBefore: Bool) async throws {
    var isThrough = false
    var moment = 1
    while !isThrough, moment < 200 {
      isThrough = try await run(until: moment, isBefore: isBefore)
      moment += 1
    }
    #expect(isThrough)
    #expect(moment > 15, "there are that many moments, or the test looks at nothing")
  }

  /// Whether the app finished without being killed.
  private func run(until moment: Int, isBefore: Bool) async throws -> Bool {
    let survived = Mutex(false)
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      let old = try await site.post("old", as: "ada", in: garden)
      for number in 1...3 { try await site.post("before \(number)", as: "grace", in: garden) }
      let promised = Mutex<[String]>([])
      do {
        do {
          let client = try site.client("ada")
          let cache = try Cache { () throws(CacheFault) -> sending any CacheStore in
            CrashingStore(try DiskStore(file), diesAt: moment, isBefore: isBefore)
          }
          let outbox = Outbox(cache, client, clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open)
          let sync = Sync(cache, client)
          try await sync.catchUp()
          let first = try await outbox.send(Draft("first"), in: garden)
          promised.withLock { $0.append("first") }
          try await outbox.setAction(.like, on: .unsent(first.id), in: garden)
          try await outbox.edit(.message(old.id), in: garden, to: "new")
          promised.withLock { $0.append("new") }
          try await outbox.send(Draft("second"), in: garden)
          promised.withLock { $0.append("second") }
          if let fault = try await outbox.sendAll() { throw fault }
          try await site.post("meanwhile", as: "grace", in: garden)
          try await sync.catchUp()
          try await sync.fetchAll([garden])
          survived.withLock { $0 = true }
        } catch {
          guard !survived.withLock({ $0 }) else { throw error }
        }
      }
      let again = try SiteClient(site, "ada", file: file)
      #expect(try await again.outbox.sendAll() == nil)
      try await again.sync.catchUp()
      try await again.sync.fetchAll([garden])
      let server = try await site.messages(of: garden, as: "ada")
      let texts = server.compactMap(\.message.content?.text)
      for text in promised.withLock({ $0 }) { #expect(texts.count { $0 == text } == 1, "\(text), died at \(moment)") }
      for text in ["first", "second"] { #expect(texts.count { $0 == text } <= 1, "\(text), died at \(moment)") }
      #expect(try await again.cached(garden) == server.map(\.message), "died at \(moment)")
      #expect(await again.outbox.list().isEmpty)
      #expect(try await again.sync.verify(garden).repaired == 0, "died at \(moment)")
    }
    return survived.withLock { $0 }
  }
}

/// The store of an app that is killed.
private final class CrashingStore: CacheStore {
  private let store: DiskStore
  private var left: Int
  private let isBefore: Bool

  init(_ store: DiskStore, diesAt moment: Int, isBefore: Bool) {
    self.store = store
    left = moment
    self.isBefore = isBefore
  }

  private static let death = CacheFault.broken("killed")

  func save(_ changes: CacheChanges) throws(CacheFault) {
    guard left > 0 else { throw Self.death }
    left -= 1
    if left > 0 || !isBefore { try store.save(changes) }
    if left == 0 { throw Self.death }
  }

  func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow] {
    guard left > 0 else { throw Self.death }
    return try store.rows(of: table)
  }

  func messages(_ lookup: CacheQuery) throws(CacheFault) -> [CachedMessage]? {
    guard left > 0 else { throw Self.death }
    return try store.messages(lookup)
  }

  func erase(keeping kept: [CacheRow]) throws(CacheFault) { try store.erase(keeping: kept) }
}
