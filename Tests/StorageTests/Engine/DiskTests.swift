import CFaultyVFS
import Foundation
import ParleyModel
import TestSupport
import Testing

@testable import Storage

/// What was acknowledged is there, exactly once and as it was changed last, whatever the disk did.
@Suite struct DiskTests {
  @Test(arguments: [(FAULTY_WRITE, Code.full), (FAULTY_SYNC, Code.syncFailed)])
  func `after a failed commit nothing is acknowledged, and writing resumes when the disk does`(
    kind: faulty_kind, code: Int32
  ) async throws {
    let disk = try FaultyDisk(seed: 1)
    let garden = try await Garden(vfs: disk.name)
    _ = try await garden.post("before", as: "before")
    disk.fail(kind, times: -1, code: code)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          await #expect(throws: Refusal.unavailable) { try await garden.post("during", as: "during-\(number)") }
        }
      }
    }
    disk.heal()
    let after = try await garden.post("after", as: "after")
    #expect(after.seq == 2)
    #expect(garden.delivered.all.map(\.id) == [1, 2])
    await garden.store.close()
  }

  /// How many schedules for each way of losing; more with `PARLEY_POWER_CUTS`.
  static let schedules = ProcessInfo.processInfo.environment["PARLEY_POWER_CUTS"].flatMap { UInt64($0) } ?? 70

  @Test(arguments: [FAULTY_LOSE_ALL, FAULTY_LOSE_WRITES, FAULTY_LOSE_SECTORS])
  func `every acknowledged message and change survives a power cut, once and in its place`(
    loss: faulty_loss
  ) async throws {
    var (posted, changed) = (0, 0)
    // The garden is planted on a sound disk; the power fails at some moment after.
    let planted = try await Garden()
    await planted.store.close()
    for seed in 1...Self.schedules {
      let scratch = try Scratch()
      let folder = scratch.path + "/garden"
      try FileManager.default.copyItem(atPath: planted.folder, toPath: folder)
      let told = try await Self.writeUntilDark(folder, seed: seed, losing: loss)
      // Opening it as a daemon would is what repairs it.
      try await Garden(in: folder).store.close()
      #expect(try Garden.faults(in: folder) == [], "seed \(seed)")
      let found = try FoundMessage.all(in: folder)
      for var promise in told.promises {
        #expect(promise.settle(found[promise.clientID] ?? []) == nil, "seed \(seed)")
      }
      #expect(told.faults == [], "seed \(seed)")
      posted += told.promises.count
      changed += told.changes
    }
    #expect(posted > 10 * Int(Self.schedules))
    #expect(changed > 10 * Int(Self.schedules))
  }

  /// What a writer was told until the power was cut.
  private struct Told {
    var promises: [Promise] = []
    /// How many changes were answered.
    var changes = 0
    /// What was wrong with the answers.
    var faults: [String] = []
  }

  /// Eight writers, until the power is cut.
  private static func writeUntilDark(_ folder: String, seed: UInt64, losing loss: faulty_loss) async throws -> Told {
    let disk = try FaultyDisk(seed: seed, losing: loss)
    disk.cutPower(at: 20 + Int(seed * 7_919 % 400))
    defer { disk.cutPower() }
    var all = Told()
    guard let garden = try? await Garden(in: folder, vfs: disk.name) else { return all }
    await withTaskGroup(of: Told.self) { group in
      for writer in 0..<8 { group.addTask { await write(as: writer, in: garden, seed: seed) } }
      for await told in group {
        all.promises += told.promises
        all.changes += told.changes
        all.faults += told.faults
      }
    }
    await garden.store.close()
    return all
  }

  /// One message after the other, and after each two changes of what the writer posted last.
  private static func write(as writer: Int, in garden: Garden, seed: UInt64) async -> Told {
    var told = Told()
    var random = Seeded(seed: seed * 8 + UInt64(writer))
    for number in 0..<10_000 {
      let name = "\(writer).\(number)"
      guard let stored = try? await garden.post(Change.text(name), as: name) else { return told }
      told.promises.append(Promise(name, at: Promise.Place(id: stored.id.number, seq: stored.seq)))
      for part in 0..<2 {
        guard let index = told.promises.indices.suffix(4).randomElement(using: &random) else { break }
        let change = Change(named: "\(name).\(part).\(number)", using: &random)
        let id = ID<Message>(told.promises[index].place.id)
        told.promises[index].ask(change)
        let answer: Change.Answer
        do throws(Refusal) {
          answer = .revision(try await garden.write { tx throws(Refusal) in try change.make(id, in: tx) })
        } catch .unavailable {
          return told
        } catch {
          answer = .refused(error.code)
        }
        told.changes += 1
        if let fault = told.promises[index].take(answer) { told.faults.append(fault) }
      }
    }
    return told
  }
}
