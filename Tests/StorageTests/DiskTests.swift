import CFaultyVFS
import FaultyDisk
import Foundation
import Model
import Synchronization
import Testing

@testable import Storage

/// What the writers were told, by client id.
private final class Acknowledged: Sendable {
  private let ids = Mutex<[String: Int]>([:])
  func add(_ clientID: String, _ id: Int) { ids.withLock { $0[clientID] = id } }
  var all: [String: Int] { ids.withLock { $0 } }
}

/// What was acknowledged is there, exactly once, whatever the disk did.
@Suite(.serialized) struct DiskTests {
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

  /// How many schedules; more with `PARLEY_POWER_CUTS`.
  static let schedules = ProcessInfo.processInfo.environment["PARLEY_POWER_CUTS"].flatMap { UInt64($0) } ?? 70

  @Test(arguments: [FAULTY_LOSE_ALL, FAULTY_LOSE_WRITES, FAULTY_LOSE_SECTORS])
  func `every acknowledged message survives a power cut, once and in its place`(loss: faulty_loss) async throws {
    var acknowledged = 0
    for seed in 1...Self.schedules {
      let folder = FileManager.default.temporaryDirectory.appending(path: "parley-\(UUID())").path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      // The garden is planted on a sound disk; the power fails at some moment after.
      try await Garden(in: folder).store.close()
      let kept = try await Self.writeUntilDark(folder, seed: seed, losing: loss)
      acknowledged += kept.count
      // Opening it as a daemon would is what repairs it.
      try await Garden(in: folder).store.close()
      #expect(try Garden.faults(in: folder) == [], "seed \(seed)")
      let found = try Garden.messages(in: folder)
      for (clientID, id) in kept { #expect(found[clientID] == id, "seed \(seed) lost \(clientID)") }
    }
    #expect(acknowledged > 1_000)
  }

  /// Eight writers, until the power is cut; what was acknowledged to them.
  private static func writeUntilDark(
    _ folder: String, seed: UInt64, losing loss: faulty_loss
  ) async throws -> [String: Int] {
    let disk = try FaultyDisk(seed: seed, losing: loss)
    disk.cutPower(at: 20 + Int(seed * 7_919 % 400))
    let acknowledged = Acknowledged()
    do {
      let garden = try await Garden(in: folder, vfs: disk.name)
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<8 {
          group.addTask {
            for number in 0..<10_000 {
              let clientID = "\(writer)-\(number)"
              do throws(Refusal) {
                let stored = try await garden.post("seeds and weeds \(clientID)", as: clientID)
                acknowledged.add(clientID, stored.id.number)
              } catch { return }
            }
          }
        }
      }
      await garden.store.close()
    } catch {}
    disk.cutPower()
    return acknowledged.all
  }
}
