import Dispatch
import Glibc
import Synchronization
import Testing

@testable import ParleyNetworking

struct EventLoopTests {
  @Test func `deadlines expire in order`() {
    var heap = DeadlineHeap()
    let times = (0..<500).map { Int64(($0 &* 7_919) % 503) }
    for time in times { heap.push(.init(at: time, descriptor: Int32(time), generation: 0)) }
    var out: [Int64] = []
    while let first = heap.first {
      out.append(first.at)
      heap.removeFirst()
    }
    #expect(out == times.sorted())
    #expect(heap.first == nil)
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a deadline may be moved earlier or later`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let address = try await loop.listen()
      let events = Collected<Recorder.Event>()
      let times = Collected<Int64>()
      let began = Clock.monotonic()
      try await loop.connect(to: address, events: events) { event, stream, loop in
        switch event {
        case .opened:
          stream.setDeadline(at: loop.now + 50_000_000)
          stream.setDeadline(at: loop.now + 400_000_000)
        case .expired where times.count == 0:
          times.add(loop.now - began)
          stream.setDeadline(at: loop.now + 3_600_000_000_000)
          stream.setDeadline(at: loop.now + 100_000_000)
        case .expired:
          times.add(loop.now - began)
          stream.abort()
        default: break
        }
      }
      #expect(await eventually { events.all.last == .closed(isFailed: false) })
      #expect(times.count == 2)
      #expect(times.all[0] >= 400_000_000)
      #expect(times.all[1] >= times.all[0] + 100_000_000)
      #expect(events.all.filter { $0 == .expired }.count == 2)
    }
  }

  private final class TestClock: Sendable {
    let time = Atomic<Int64>(1_000_000_000)
    var read: @Sendable () -> Int64 { { self.time.load(ordering: .sequentiallyConsistent) } }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `input before a deadline is delivered before it, even if the loop is late`(
    polling: EventLoop.Polling
  ) async throws {
    let clock = TestClock()
    try await EventLoop.running(polling, clock: clock.read) { loop in
      var ends: [Int32] = [0, 0]
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
      #expect(socketpair(AF_UNIX, kind, 0, &ends) == 0)
      let (near, far) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
      let events = Collected<Recorder.Event>()
      try await loop.serve(near, events) { event, stream, _ in
        switch event {
        case .opened, .received: stream.setDeadline(after: 1)
        case .expired: stream.abort()
        default: break
        }
      }
      #expect(await eventually { events.all == [.opened] })
      await loop.block {
        far.tryWrite([7])
        clock.time.add(2_000_000_000, ordering: .sequentiallyConsistent)
      }
      #expect(events.all == [.opened, .received([7])])
      await loop.block { clock.time.add(2_000_000_000, ordering: .sequentiallyConsistent) }
      #expect(await eventually { events.all == [.opened, .received([7]), .expired, .closed(isFailed: false)] })
      withExtendedLifetime(far) {}
    }
  }

  /// An actor with a loop as its executor.
  private actor LoopActor {
    let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.unownedExecutor }
    private var count = 0

    init(loop: EventLoop) { self.loop = loop }

    func add() -> Bool {
      count += 1
      return loop.isCurrent
    }

    func spin(until flag: Flag) async {
      flag.spinning.add(true)
      while !flag.isSet.withLock({ $0 }) { await Task.yield() }
    }

    var total: Int { count }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `an actor may use a loop as its executor`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let resident = LoopActor(loop: loop)
      await withTaskGroup { group in
        for _ in 0..<1_000 { group.addTask { #expect(await resident.add()) } }
      }
      #expect(await resident.total == 1_000)
      let ran = Collected<Bool>()
      loop.run { ran.add($0.isCurrent) }
      #expect(await eventually { ran.all == [true] })
      #expect(!loop.isCurrent)
    }
  }

  private final class Flag: Sendable {
    let isSet = Mutex(false)
    let spinning = Collected<Bool>()
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `endlessly yielding tasks delay neither I/O nor deadlines`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let address = try await loop.listen { event, stream, _ in
        if case .received(let bytes) = event { stream.write(bytes) }
      }
      let resident = LoopActor(loop: loop)
      let flag = Flag()
      async let first: Void = resident.spin(until: flag)
      async let second: Void = resident.spin(until: flag)
      #expect(await eventually { flag.spinning.count == 2 })
      let events = Collected<Recorder.Event>()
      let answers = Collected<Int>()
      try await loop.connect(to: address, events: events) { event, stream, loop in
        switch event {
        case .opened:
          stream.write([1])
        case .received where answers.count < 200:
          answers.add(1)
          stream.write([1])
        case .received:
          stream.setDeadline(at: loop.now + 1_000_000)
        case .expired:
          stream.finish()
        default: break
        }
      }
      #expect(await eventually { events.all.contains(.expired) })
      flag.isSet.withLock { $0 = true }
      await first
      await second
    }
  }
}

extension EventLoop {
  fileprivate func serve(
    _ descriptor: Descriptor, _ events: Collected<Recorder.Event>,
    _ react: @escaping @Sendable (Recorder.Event, ParleyNetworking.Stream, isolated EventLoop) -> Void
  ) throws {
    let recorder = Recorder(events, react: react)
    recorder.stream = try .accept(descriptor, peer: .unix(""), tls: nil, handler: recorder, on: self)
  }

  /// Runs `body` while the loop is busy, so that its deadlines are due first.
  fileprivate func block(_ body: @Sendable () -> Void) {
    body()
    reactor.expire(on: self)
  }
}
