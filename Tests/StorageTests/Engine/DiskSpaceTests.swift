import Foundation
import Testing

@testable import Storage

/// Free space below which the server refuses uploads, and all content.
struct DiskSpaceTests {
  private static let gigabyte = 1_000_000_000

  private static func space(free: Int, of total: Int) -> Disk.Space {
    Disk.Space(free: free, total: total, used: total - free)
  }

  @Test func `uploads stop at 10 percent and content at 2 percent, until there is room again`() throws {
    let scratch = try Scratch()
    let folder = try DataFolder(scratch.path)
    let lines = Garden.Lines()
    let gate = WriteGate(folder.path, reserve: DiskReserve(folder), log: { lines.add($0) })
    let reserve = "\(scratch.path)/reserve"
    // Percent of a disk of 100 GB, and the refusals then.
    let steps: [(percent: Int, uploads: Bool, content: Bool)] = [
      (50, false, false), (10, false, false), (9, true, false), (2, true, false), (1, true, true), (2, true, true),
      (3, true, false), (10, false, false),
    ]
    for step in steps {
      gate.examine(Self.space(free: step.percent * Self.gigabyte, of: 100 * Self.gigabyte))
      #expect(gate.refusesUploads == step.uploads && gate.isDiskFull == step.content, "\(step.percent) %")
      // Sign-ins have room without the reserve.
      #expect(FileManager.default.fileExists(atPath: reserve))
    }
    #expect(lines.all.filter { $0.contains("refuses uploads until 10 %") }.count == 1)
    #expect(lines.all.filter { $0.contains("THE DISK IS FULL") }.count == 1)
    gate.examine(Self.space(free: Self.gigabyte, of: 100 * Self.gigabyte))
    gate.examine(Self.space(free: 1_000_000, of: 100 * Self.gigabyte))
    #expect(gate.isDiskFull && !FileManager.default.fileExists(atPath: reserve))
    folder.release()
  }

  @Test func `the reserve decides on a small disk`() throws {
    let scratch = try Scratch()
    let folder = try DataFolder(scratch.path)
    let gate = WriteGate(folder.path, reserve: DiskReserve(folder), log: { _ in })
    let total = 24_000_000
    // Half of the reserve, which is an eighth of the disk.
    for (free, isFull) in [(1_600_000, false), (1_400_000, true), (5_900_000, true), (6_100_000, false)] {
      gate.examine(Self.space(free: free, of: total))
      #expect(gate.isDiskFull == isFull, "\(free)")
    }
    folder.release()
  }
}
