import Glibc
import TestSupport
import Testing

@testable import ParleyNetworking

struct OutputQueueTests {
  @Test func `the same sequence of buffers is joined once`() {
    let (front, back) = ([UInt8](repeating: 1, count: 90), [UInt8](repeating: 2, count: 50))
    let coalescing = CoalescingBuffer()
    let joined = coalescing.join(front, back)
    #expect(joined == front + back)
    #expect(address(coalescing.join(front, back)) == address(joined))
    // Equal bytes at another address are different buffers.
    #expect(address(coalescing.join(front.map { $0 }, back.map { $0 })) != address(joined))
    #expect(coalescing.join(front, front) == front + front)
    #expect(coalescing.join(front, back) == joined)
  }

  /// Queues send shared and private buffers, and are flushed at random.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `each queue sends its own bytes`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    let coalescing = CoalescingBuffer()
    let memory = LoopMemory(MemoryBudget())
    var ends = try (0..<6).map { _ in try Pair(memory) }
    for _ in 0..<60 {
      let shared = (0..<Int.random(in: 0...800, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      for index in ends.indices where Int.random(in: 0..<8, using: &random) > 0 {
        ends[index].queue.append(shared: shared, with: coalescing)
        ends[index].expected += shared
        if Int.random(in: 0..<6, using: &random) == 0 {
          let own = [UInt8](repeating: UInt8(index), count: Int.random(in: 0...300, using: &random))
          ends[index].queue.append(own)
          ends[index].expected += own
        }
        if Bool.random(using: &random) {
          let isCounted = ends[index].queue.countShared()
          #expect(isCounted)
        }
        if Int.random(in: 0..<10, using: &random) == 0 { ends[index].move() }
      }
    }
    for index in ends.indices {
      ends[index].move()
      #expect(ends[index].queue.isEmpty && ends[index].queue.count == 0)
      #expect(ends[index].received == ends[index].expected)
    }
    #expect(memory.used == 0)
  }

  @Test func `a write sends the allowed bytes of several buffers`() throws {
    var end = try Pair()
    for value in 1...3 as ClosedRange<UInt8> { end.queue.append([UInt8](repeating: value, count: 9_000)) }
    guard case .sentSome = end.queue.write(to: end.near.number, allowance: 20_000) else {
      Issue.record("more than the allowed bytes were sent")
      return
    }
    #expect((end.queue.total, end.queue.count) == (20_000, 7_000))
  }

  @Test func `shared buffers are not retained for one queue`() throws {
    var end = try Pair()
    let coalescing = CoalescingBuffer()
    end.queue.append([UInt8](repeating: 1, count: 9_000))
    end.queue.append(shared: [UInt8](repeating: 2, count: 500), with: coalescing)
    end.queue.append(shared: [UInt8](repeating: 3, count: 20_000), with: coalescing)
    #expect((end.queue.count, end.queue.unshared) == (29_500, 9_000))
    // Appending to a small buffer copies it.
    end.queue.append(shared: [UInt8](repeating: 4, count: 100), with: coalescing)
    end.queue.append([5])
    #expect((end.queue.count, end.queue.unshared) == (29_601, 9_101))
    end.expected =
      [UInt8](repeating: 1, count: 9_000) + [UInt8](repeating: 2, count: 500) + [UInt8](repeating: 3, count: 20_000)
      + [UInt8](repeating: 4, count: 100) + [5]
    end.move()
    #expect((end.queue.count, end.queue.unshared) == (0, 0))
    #expect(end.received == end.expected)
  }

  private func address(_ bytes: [UInt8]) -> UInt { bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
}

/// A queue and its socket.
private struct Pair {
  var queue: OutputQueue
  var expected: [UInt8] = []
  private(set) var received: [UInt8] = []
  let near: Descriptor
  private let far: Descriptor

  init(_ memory: LoopMemory? = nil) throws {
    queue = OutputQueue(memory)
    var numbers: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &numbers) == 0)
    near = try Descriptor(checking: numbers[0], "socketpair")
    far = try Descriptor(checking: numbers[1], "socketpair")
  }

  /// Transfers until the queue is empty.
  mutating func move() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let outcome = queue.write(to: near.number)
      while true {
        let count = read(far.number, &buffer, buffer.count)
        guard count > 0 else { break }
        received += buffer[..<count]
      }
      switch outcome {
      case .blocked, .sentSome: continue
      case .sentAll, .failed: return
      }
    }
  }
}
