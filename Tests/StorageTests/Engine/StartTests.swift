import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct StartTests {
  /// Milliseconds since 2026 at the garden's clock, times 1,024.
  private static let idsByClock = (1_800_000_000_000 - 1_767_225_600_000) * 1_024

  @Test func `a start ends with the last event before the next one`() async throws {
    let scratch = try Scratch()
    var starts: [Starts] = []
    for _ in 0..<3 {
      let garden = try await Garden(in: scratch.path)
      _ = try await garden.post("seeds")
      _ = try await garden.post("weeds")
      starts.append(garden.store.starts)
      await garden.store.close()
    }
    let last = try await Garden(in: scratch.path)
    #expect(starts.map { last.store.starts.state(of: $0.current) } == [.ended(2), .ended(4), .ended(6)])
    #expect(last.store.starts.state(of: last.store.starts.current) == .current)
    let numbers = starts.map(\.current) + [last.store.starts.current]
    #expect([1, 2, 3, 6, 7, 100].map { last.store.starts.start(of: $0) } == [0, 0, 1, 2, 3, 3].map { numbers[$0] })
    #expect(last.store.starts.start(of: 0) == nil)
    for text in ["", "0", starts[0].current.uppercased() + "Z", starts[0].current + "0"] {
      #expect(last.store.starts.state(of: text) == .unknown, "\(text)")
    }
    #expect(last.store.cursor(at: 6) == "\(last.store.epoch).\(last.store.starts.current).6")
    await last.store.close()
    #expect(try Garden.faults(in: scratch.path) == [])
  }

  @Test func `a copy that is put back knows no event and assigns no id of the lost history`() async throws {
    let scratch = try Scratch()
    func copy(_ from: String, _ to: String) throws {
      for name in ["", "-wal"] where FileManager.default.fileExists(atPath: "\(scratch.path)/\(from)/parley.db\(name)")
      {
        try FileManager.default.createDirectory(atPath: "\(scratch.path)/\(to)", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
          atPath: "\(scratch.path)/\(from)/parley.db\(name)", toPath: "\(scratch.path)/\(to)/parley.db\(name)")
      }
    }
    let site = try await Garden(in: scratch.path + "/site")
    var ids = [try await site.post("before").id]
    // Hot: the store writes on. Cold: between two starts.
    try copy("site", "hot")
    ids.append(try await site.post("lost, of the copied start").id)
    await site.store.close()
    try copy("site", "cold")
    let later = try await Garden(in: scratch.path + "/site", at: site.clock.now + 1_000)
    for number in 0..<100 { ids.append(try await later.post("lost \(number), of a later start").id) }
    await later.store.close()

    let hot = try await Garden(in: scratch.path + "/hot", at: site.clock.now + 2_000)
    #expect(hot.store.epoch == site.store.epoch)
    #expect(hot.store.starts.state(of: site.store.starts.current) == .ended(1))
    #expect(hot.store.starts.state(of: later.store.starts.current) == .unknown)
    let cold = try await Garden(in: scratch.path + "/cold", at: site.clock.now + 3_000)
    #expect(cold.store.starts.state(of: site.store.starts.current) == .ended(2))
    #expect(cold.store.starts.state(of: later.store.starts.current) == .unknown)
    for garden in [hot, cold] {
      for number in 0..<100 { ids.append(try await garden.post("other \(number)").id) }
      await garden.store.close()
      #expect(try Garden.faults(in: garden.folder) == [])
    }
    #expect(Set(ids).count == 302)
  }

  @Test func `each start moves the ids by the clock, and at least by a gap`() async throws {
    let scratch = try Scratch()
    let first = try await Garden(in: scratch.path)
    #expect(try await first.post("seeds").id.number == 4)
    await first.store.close()
    let second = try await Garden(in: scratch.path)
    #expect(try await second.post("weeds").id.number == Self.idsByClock + 1)
    await second.store.close()
    let third = try await Garden(in: scratch.path)
    #expect(try await third.post("roses").id.number == Self.idsByClock + 1 + Starts.idGap + 1)
    await third.store.close()
  }

  @Test func `a copy of a site that restarts every two seconds assigns no id again`() async throws {
    let scratch = try Scratch()
    var now: Int64 = 1_800_000_000_000
    func messages(in folder: String) async throws -> [Int] {
      let garden = try await Garden(in: "\(scratch.path)/\(folder)", at: now)
      now += 2_000
      var ids: [Int] = []
      for number in 0..<10 { ids.append(try await garden.post("\(folder) \(number)").id.number) }
      await garden.store.close()
      return ids
    }
    var ids: [Int] = []
    for _ in 0..<3 { ids += try await messages(in: "site") }
    #expect(try scratch.run("cp -r site copy") == 0)
    for folder in ["site", "copy", "site", "copy"] { ids += try await messages(in: folder) }
    #expect(Set(ids).count == 70)
  }

  @Test func `starts before the beginning of the log are removed`() async throws {
    let scratch = try Scratch()
    var numbers: [String] = []
    for _ in 0..<4 {
      let garden = try await Garden(in: scratch.path)
      _ = try await garden.post("seeds")
      numbers.append(garden.store.starts.current)
      await garden.store.close()
    }
    let garden = try await Garden(in: scratch.path)
    #expect(numbers.map { garden.store.starts.state(of: $0) } == [.ended(1), .ended(2), .ended(3), .ended(4)])
    let now = garden.clock.now
    _ = try await garden.store.write { tx throws(Refusal) in
      try tx.removeEvents(before: now + 1, limit: 2)
    }
    await garden.store.close()
    // Events 1 and 2 are gone: a client at event 2 lacks none.
    let last = try await Garden(in: scratch.path)
    #expect(numbers.map { last.store.starts.state(of: $0) } == [.unknown, .ended(2), .ended(3), .ended(4)])
    await last.store.close()
    #expect(try Garden.faults(in: scratch.path) == [])
  }

  @Test func `a daemon that starts without end keeps the newest starts`() async throws {
    let scratch = try Scratch()
    await (try await Garden(in: scratch.path)).store.close()
    let connection = try Connection.writer(scratch.path + "/parley.db")
    try connection.execute(
      """
      with recursive n (i) as (select 2 union all select i + 1 from n where i < $1)
      insert into start (ordinal, number, first_event)
      select i, i, 1
      from n
      """, Starts.max)
    connection.close()
    let garden = try await Garden(in: scratch.path)
    #expect(garden.store.starts.state(of: "2") == .ended(0))
    await garden.store.close()
    let again = try await Garden(in: scratch.path)
    #expect(again.store.starts.state(of: "2") == .unknown && again.store.starts.state(of: "3") == .ended(0))
    await again.store.close()
  }
}
