import Synchronization

/// A bound on the buffers of all connections, counted where a buffer grows. Each event loop takes bytes from it in steps,
/// so that most growth touches no atomic.
public final class MemoryBudget: Sendable {
  private let bound: Atomic<Int>
  private let taken = Atomic(0)
  private let refused = Atomic(0)

  /// The number of bytes that a loop takes at a time.
  static let step = 65_536
  /// Buffers of a connection up to this size may use the last eighth of the budget, so that a few connections with large
  /// buffers do not close all others.
  static let modest = 65_536

  public init(limit: Int = .max) { bound = Atomic(limit) }

  public var limit: Int { bound.load(ordering: .relaxed) }

  /// Replaces the limit. Buffers above a lower one stay until they are given back.
  public func use(limit: Int) { bound.store(limit, ordering: .relaxed) }

  /// The bytes that the loops have taken.
  public var used: Int { taken.load(ordering: .relaxed) }

  /// The number of refusals since the previous call.
  public func takeRefusals() -> Int { refused.exchange(0, ordering: .relaxed) }

  /// Returns false above the limit.
  func take(_ bytes: Int, isModest: Bool) -> Bool {
    let limit = limit
    let bound = isModest ? limit : limit - limit / 8
    let after = taken.add(bytes, ordering: .relaxed).newValue
    guard after > bound else { return true }
    taken.subtract(bytes, ordering: .relaxed)
    refused.add(1, ordering: .relaxed)
    return false
  }

  func giveBack(_ bytes: Int) { taken.subtract(bytes, ordering: .relaxed) }
}

/// The part of a budget that one event loop has taken. Buffers in the queues of many connections count once.
final class LoopMemory {
  private let budget: MemoryBudget
  private var taken = 0
  private(set) var used = 0
  /// The number of queues with each shared buffer, by its address. The queues retain the buffers, so no address is reused.
  private var shared: [UInt: Int] = [:]

  init(_ budget: MemoryBudget) { self.budget = budget }

  deinit { budget.giveBack(taken) }

  /// The number of bytes by which buffers may grow.
  var room: Int { taken - used + max(0, budget.limit - budget.used) }

  /// Counts the growth of a connection's buffers to `size`. Returns false above the budget.
  func grow(by bytes: Int, to size: Int) -> Bool {
    let missing = used + bytes - taken
    if missing > 0 {
      let steps = (missing + MemoryBudget.step - 1) / MemoryBudget.step * MemoryBudget.step
      guard budget.take(steps, isModest: size <= MemoryBudget.modest) else { return false }
      taken += steps
    }
    used += bytes
    return true
  }

  /// Keeps one free step, so that a buffer that grows and shrinks does not touch the atomic each time.
  func shrink(by bytes: Int) {
    used -= bytes
    let excess = (taken - used) / MemoryBudget.step * MemoryBudget.step - MemoryBudget.step
    guard excess > 0 else { return }
    taken -= excess
    budget.giveBack(excess)
  }

  /// Counts a shared buffer in the queue of a connection with `size` bytes. Returns false above the budget.
  func retain(_ buffer: [UInt8], in size: Int) -> Bool {
    let key = Self.address(buffer)
    if let queues = shared[key] {
      shared[key] = queues + 1
      return true
    }
    guard grow(by: buffer.count, to: size) else { return false }
    shared[key] = 1
    return true
  }

  /// Call before the queue releases the buffer.
  func release(_ buffer: [UInt8]) {
    let key = Self.address(buffer)
    guard let queues = shared[key] else { return }
    guard queues == 1 else {
      shared[key] = queues - 1
      return
    }
    shared[key] = nil
    shrink(by: buffer.count)
  }

  private static func address(_ buffer: [UInt8]) -> UInt {
    unsafe buffer.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }
}
