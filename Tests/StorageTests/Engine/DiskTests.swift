import CFaultyVFS
import Foundation
import ParleyModel
import TestSupport
import Testing

@testable import Storage

/// Acknowledged messages and changes are durable, exactly once and in their last state, across disk faults.
@Suite struct DiskTests {
  @Test(arguments: [(FAULTY_WRITE, Code.full), (FAULTY_SYNC, Code.syncFailed)])
  func `after a failed commit nothing is acknowledged, and writes resume after the disk recovers`(
    kind: faulty_kind, code: Int32
  ) async throws {
    let disk = try FaultyDisk(seed: 1)
    let garden = try await Garden(vfs: disk.name)
    _ = try await garden.post("before", as: "before")
    disk.fail(kind, times: -1, code: code)
    let refusal: Refusal = code == Code.full ? .diskFull : .unavailable
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          await #expect(throws: refusal) { try await garden.post("during", as: "during-\(number)") }
        }
      }
    }
    disk.heal()
    let after = try await garden.post("after", as: "after")
    #expect(after.seq == 2)
    #expect(garden.delivered.all.map(\.id) == [1, 2])
    await garden.store.close()
  }

  /// The number of schedules per loss mode; more with `PARLEY_POWER_CUTS`.
  static let schedules = ProcessInfo.processInfo.environment["PARLEY_POWER_CUTS"].flatMap { UInt64($0) } ?? 30

  @Test(arguments: [FAULTY_LOSE_ALL, FAULTY_LOSE_WRITES, FAULTY_LOSE_SECTORS])
  func `every acknowledged message and change survives a power cut exactly once and in order`(
    loss: faulty_loss
  ) async throws {
    var (posted, changed) = (0, 0)
    // The disk is reliable while the garden is planted. The power fails at some moment after.
    let planted = try await Garden()
    await planted.store.close()
    for seed in 1...Self.schedules {
      let scratch = try Scratch()
      let folder = scratch.path + "/garden"
      try FileManager.default.copyItem(atPath: planted.folder, toPath: folder)
      let log = try await Self.writeUntilPowerCut(folder, seed: seed, losing: loss)
      // Opening it repairs it, as in a daemon.
      try await Garden(in: folder).store.close()
      #expect(try Garden.faults(in: folder) == [], "seed \(seed)")
      let found = try FoundMessage.all(in: folder)
      for var message in log.acknowledged {
        #expect(message.settle(found[message.clientID] ?? []) == nil, "seed \(seed)")
      }
      #expect(log.faults == [], "seed \(seed)")
      posted += log.acknowledged.count
      changed += log.changes
    }
    #expect(posted > 10 * Int(Self.schedules))
    #expect(changed > 10 * Int(Self.schedules))
  }

  /// The acknowledgements that a writer received before the power cut.
  private struct WriteLog {
    var acknowledged: [AcknowledgedMessage] = []
    /// The number of acknowledged changes.
    var changes = 0
    /// Wrong acknowledgements.
    var faults: [String] = []
  }

  /// Runs eight writers until the power cut.
  private static func writeUntilPowerCut(_ folder: String, seed: UInt64, losing loss: faulty_loss) async throws
    -> WriteLog
  {
    let disk = try FaultyDisk(seed: seed, losing: loss)
    disk.cutPower(at: 20 + Int(seed * 7_919 % 400))
    defer { disk.cutPower() }
    var all = WriteLog()
    guard let garden = try? await Garden(in: folder, vfs: disk.name) else { return all }
    await withTaskGroup(of: WriteLog.self) { group in
      for writer in 0..<8 { group.addTask { await write(as: writer, in: garden, seed: seed) } }
      for await log in group {
        all.acknowledged += log.acknowledged
        all.changes += log.changes
        all.faults += log.faults
      }
    }
    await garden.store.close()
    return all
  }

  /// Posts messages in sequence, each followed by two changes of the writer's last posts.
  private static func write(as writer: Int, in garden: Garden, seed: UInt64) async -> WriteLog {
    var log = WriteLog()
    var random = Seeded(seed: seed * 8 + UInt64(writer))
    for number in 0..<10_000 {
      let name = "\(writer).\(number)"
      guard let stored = try? await garden.post(Change.text(name), as: name) else { return log }
      log.acknowledged.append(
        AcknowledgedMessage(name, at: AcknowledgedMessage.Position(id: stored.id.number, seq: stored.seq)))
      for part in 0..<2 {
        guard let index = log.acknowledged.indices.suffix(4).randomElement(using: &random) else { break }
        let change = Change(named: "\(name).\(part).\(number)", using: &random)
        let id = ID<Message>(log.acknowledged[index].position.id)
        log.acknowledged[index].begin(change)
        let answer: Change.Answer
        do throws(Refusal) {
          answer = .revision(try await garden.write { tx throws(Refusal) in try change.make(id, in: tx) })
        } catch .unavailable {
          return log
        } catch {
          answer = .refused(error.code)
        }
        log.changes += 1
        if let fault = log.acknowledged[index].finish(answer) { log.faults.append(fault) }
      }
    }
    return log
  }
}
