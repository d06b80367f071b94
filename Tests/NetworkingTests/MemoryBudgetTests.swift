import Testing

@testable import ParleyNetworking

struct MemoryBudgetTests {
  private let step = MemoryBudget.step

  @Test func `a loop takes bytes in steps and returns them`() {
    let budget = MemoryBudget(limit: 100 * step)
    let memory = LoopMemory(budget)
    #expect(memory.grow(by: 1, to: 1))
    #expect((memory.used, budget.used) == (1, step))
    #expect(memory.grow(by: step - 1, to: step))
    #expect(budget.used == step)
    #expect(memory.grow(by: 3 * step + 1, to: 4 * step))
    #expect(budget.used == 5 * step)
    memory.shrink(by: memory.used)
    // One free step stays with the loop.
    #expect((memory.used, budget.used) == (0, step))
    #expect(memory.room == 100 * step)
  }

  @Test func `growth above the limit is refused and changes nothing`() {
    let budget = MemoryBudget(limit: 16 * step)
    let (one, other) = (LoopMemory(budget), LoopMemory(budget))
    #expect(one.grow(by: 10 * step, to: 10 * step))
    #expect(!other.grow(by: 5 * step, to: 5 * step))
    #expect((other.used, budget.used) == (0, 10 * step))
    #expect(budget.takeRefusals() == 1)
    #expect(budget.takeRefusals() == 0)
    one.shrink(by: 10 * step)
    #expect(other.grow(by: 5 * step, to: 5 * step))
  }

  @Test func `the last eighth is for connections with small buffers`() {
    let budget = MemoryBudget(limit: 16 * step)
    let memory = LoopMemory(budget)
    #expect(memory.grow(by: 14 * step, to: 14 * step))
    #expect(!memory.grow(by: 1, to: MemoryBudget.modest + 1))
    #expect(memory.grow(by: step, to: MemoryBudget.modest))
    #expect(memory.grow(by: step, to: MemoryBudget.modest))
    #expect(!memory.grow(by: 1, to: 1))
  }

  @Test func `a loop that ends returns its bytes`() {
    let budget = MemoryBudget(limit: 16 * step)
    do {
      let memory = LoopMemory(budget)
      #expect(memory.grow(by: 10, to: 10))
    }
    #expect(budget.used == 0)
  }

  @Test func `a buffer in many queues is counted once`() {
    let memory = LoopMemory(MemoryBudget(limit: 1 << 20))
    let frame = [UInt8](repeating: 1, count: 20_000)
    var queues = (0..<40).map { _ in OutputQueue(memory) }
    for index in queues.indices {
      queues[index].append([UInt8](repeating: 2, count: 9_000))
      queues[index].append(retained: frame)
      let isCounted = queues[index].countShared()
      #expect(isCounted)
    }
    #expect(memory.used == 20_000)
    for index in queues.indices.dropLast() { queues[index].removeAll() }
    #expect(memory.used == 20_000)
    queues[39].removeAll()
    #expect(memory.used == 0)
  }

  @Test func `joined buffers replace their parts`() {
    let memory = LoopMemory(MemoryBudget(limit: 1 << 20))
    let coalescing = CoalescingBuffer()
    let (front, back) = ([UInt8](repeating: 1, count: 3_000), [UInt8](repeating: 2, count: 2_000))
    var queues = (0..<3).map { _ in OutputQueue(memory) }
    for buffer in [front, back] {
      for index in queues.indices {
        queues[index].append(shared: buffer, with: coalescing)
        let isCounted = queues[index].countShared()
        #expect(isCounted)
      }
    }
    #expect(memory.used == 5_000)
    // The queue's own copy takes the place of the shared buffer.
    queues[0].append([3])
    #expect((memory.used, queues[0].unshared) == (5_000, 5_001))
    queues[1].removeAll()
    queues[2].removeAll()
    #expect(memory.used == 0)
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a stream above the budget is aborted and returns its bytes`(polling: EventLoop.Polling) async throws {
    let budget = MemoryBudget(limit: 1 << 20)
    try await EventLoop.running(polling, memory: budget) { loop in
      let events = Collected<Recorder.Event>()
      let address = try await loop.listen(
        { event, stream, _ in
          guard event == .opened else { return }
          stream.write([UInt8](repeating: 1, count: 600_000))
          stream.write([UInt8](repeating: 1, count: 600_000))
        }, events: events)
      try await loop.connect(to: address, events: Collected())
      #expect(await eventually { events.all.last == .closed(isFailed: false) })
      #expect(budget.used <= MemoryBudget.step)
      #expect(budget.takeRefusals() == 1)
    }
  }

  @Test func `large outputs share the bytes of a turn`() async throws {
    try await EventLoop.running(.nestedEpoll) { loop in await loop.checkAllowance() }
  }
}

extension EventLoop {
  fileprivate func checkAllowance() {
    reactor.beginTurn()
    var sent = 0
    while reactor.allowance > 16_384 {
      let allowance = reactor.allowance
      #expect(allowance <= Stream.bytesPerTurn)
      reactor.didSend(allowance)
      sent += allowance
    }
    #expect(sent == 524_288)
    // A small output is sent in any case.
    reactor.didSend(16_384)
    #expect(reactor.allowance == 16_384)
    reactor.beginTurn()
    #expect(reactor.allowance == Stream.bytesPerTurn)
  }
}
