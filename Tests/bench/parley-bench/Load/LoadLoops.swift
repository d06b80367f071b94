import ParleyNetworking

struct LoadError: Error, CustomStringConvertible {
  let description: String
}

/// The event loops of a load: opens connections on all of them, measures and sums up the tallies.
final class LoadLoops: Sendable {
  let loops: [EventLoop]

  init(_ arguments: LoadArguments) async throws {
    var loops: [EventLoop] = []
    for index in 0..<arguments.loops { loops.append(try EventLoop(label: "load.\(index)")) }
    self.loops = loops
    for loop in loops { try await Self.start(arguments.target, on: loop) }
  }

  private static func start(_ target: LoadTarget, on loop: isolated EventLoop) throws {
    loop.start()
    let connections = try LoopConnections(target: target)
    _ = loop.resident(LoopConnections.self) { connections }
  }

  // MARK: Opening

  /// Opens more connections and returns when all are established.
  func open(_ count: Int, make: @escaping LoopConnections.Make) async throws {
    for (index, loop) in loops.enumerated() {
      let share = count / loops.count + (index < count % loops.count ? 1 : 0)
      await Self.open(share, make, on: loop)
    }
    var before = -1
    var lastProgress = Clock.monotonic()
    while true {
      var opened = 0
      var isOpening = false
      for loop in loops {
        let state = await Self.opening(on: loop)
        opened += state.opened
        isOpening = isOpening || state.isOpening
      }
      guard isOpening else { break }
      Console.progress("\(opened) connections")
      if opened != before {
        before = opened
        lastProgress = Clock.monotonic()
      } else if Clock.monotonic() - lastProgress > 10_000_000_000 {
        throw LoadError(description: "only \(opened) connections were established")
      }
      try await Task.sleep(for: .milliseconds(2))
    }
    let faults = await tally.faults
    guard faults.isEmpty else {
      let reasons = faults.map { "\($0.value) times: \($0.key)" }.sorted().joined(separator: "; ")
      throw LoadError(description: "not all connections were established; \(reasons)")
    }
  }

  private static func open(_ count: Int, _ make: @escaping LoopConnections.Make, on loop: isolated EventLoop) {
    loop.connections?.open(count, on: loop, make: make)
  }

  private static func opening(on loop: isolated EventLoop) -> (opened: Int, isOpening: Bool) {
    (loop.connections?.opened ?? 0, loop.connections?.isOpening ?? false)
  }

  // MARK: Measuring

  /// Measures for this time, or until all loops are done. Returns the duration in seconds.
  func measure(atMost seconds: Double, untilDone: Bool = false) async throws -> Double {
    let began = Clock.monotonic()
    for loop in loops { await Self.begin(on: loop) }
    let deadline = began + Int64(seconds * 1e9)
    let pause: Int64 = untilDone ? 20_000_000 : Console.isTerminal ? 500_000_000 : .max
    var end: Int64?
    while end == nil, Clock.monotonic() < deadline {
      try await Task.sleep(for: .nanoseconds(max(0, min(deadline - Clock.monotonic(), pause))))
      if untilDone { end = await doneAt }
      if Console.isTerminal { Console.progress("\(await tally.operations) operations") }
    }
    for loop in loops { await Self.end(on: loop) }
    Console.progress("")
    return Double((end ?? Clock.monotonic()) - began) / 1e9
  }

  /// The time when the last loop was done.
  private var doneAt: Int64? {
    get async {
      var last: Int64 = 0
      for loop in loops {
        guard let time = await Self.doneAt(on: loop) else { return nil }
        last = max(last, time)
      }
      return last
    }
  }

  private static func begin(on loop: isolated EventLoop) {
    loop.connections?.begin(on: loop)
  }

  private static func end(on loop: isolated EventLoop) {
    loop.connections?.end()
  }

  private static func doneAt(on loop: isolated EventLoop) -> Int64? { loop.connections?.doneAt }

  /// The sum of the tallies so far.
  var tally: Tally {
    get async {
      var sum = Tally()
      for loop in loops { sum.add(await Self.tally(on: loop)) }
      return sum
    }
  }

  private static func tally(on loop: isolated EventLoop) -> Tally { loop.connections?.tally ?? Tally() }

  /// Closes all connections cleanly, within 2 s, so that the server does not log errors.
  func close() async throws {
    for loop in loops { await Self.leave(loop) }
    let deadline = Clock.monotonic() + 2_000_000_000
    for loop in loops {
      while Clock.monotonic() < deadline, await !Self.areAllClosed(loop) { try await Task.sleep(for: .milliseconds(2)) }
      await Self.stop(loop)
    }
  }

  private static func leave(_ loop: isolated EventLoop) {
    loop.connections?.leave(on: loop)
  }

  private static func areAllClosed(_ loop: isolated EventLoop) -> Bool { loop.connections?.areAllClosed ?? true }

  private static func stop(_ loop: isolated EventLoop) {
    loop.stop()
  }
}

extension EventLoop {
  fileprivate var connections: LoopConnections? { resident(LoopConnections.self) }
}
