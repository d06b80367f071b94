import ParleyModel
import Storage
import Synchronization
import Testing

final class TurnQueueTests: Sendable {
  private let queue = TurnQueue([0])
  private let order = Mutex<[String]>([])
  private let ada = Turn.user(ID(1))
  private let ben = Turn.user(ID(2))

  /// Waits until the request is in the queue.
  private func enqueue(_ name: String, for turn: Turn) async -> Task<Void, any Error> {
    let before = queue.waitingCount
    let task = Task {
      let resource = try await queue.take(for: turn)
      order.withLock { $0.append(name) }
      queue.putBack(resource, of: turn)
    }
    while queue.waitingCount == before { await Task.yield() }
    return task
  }

  @Test func `callers take turns, and visitors come last`() async throws {
    let resource = try await queue.take(for: .server)
    var tasks: [Task<Void, any Error>] = []
    for number in 1...3 { tasks.append(await enqueue("visitor \(number)", for: .visitor(network: 7))) }
    for number in 1...3 { tasks.append(await enqueue("ada \(number)", for: ada)) }
    tasks.append(await enqueue("ben 1", for: ben))
    queue.putBack(resource, of: .server)
    for task in tasks { try await task.value }
    #expect(
      order.withLock { $0 } == ["ada 1", "ben 1", "ada 2", "ada 3", "visitor 1", "visitor 2", "visitor 3"])
    #expect(queue.waitingCount == 0)
  }

  @Test func `a caller with too many requests is refused, another one is not`() async throws {
    let resource = try await queue.take(for: .server)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<TurnQueue<Int>.maxWaitingPerCaller { tasks.append(await enqueue("\(number)", for: ada)) }
    await #expect(throws: Refusal.unavailable) { try await queue.take(for: ada) }
    tasks.append(await enqueue("ben", for: ben))
    tasks.append(await enqueue("server", for: .server))
    queue.putBack(resource, of: .server)
    for task in tasks { try await task.value }
    #expect(order.withLock { $0.count } == TurnQueue<Int>.maxWaitingPerCaller + 2)
  }

  @Test func `all visitors together are bounded, and so are all users`() async throws {
    let resource = try await queue.take(for: .server)
    var tasks: [Task<Void, any Error>] = []
    let count = TurnQueue<Int>.maxWaiting
    for number in 0..<count { tasks.append(await enqueue("visitor", for: .visitor(network: number))) }
    await #expect(throws: Refusal.unavailable) { try await queue.take(for: .visitor(network: count)) }
    for number in 0..<count { tasks.append(await enqueue("user", for: .user(ID(number + 2)))) }
    await #expect(throws: Refusal.unavailable) { try await queue.take(for: ada) }
    #expect(queue.waitingCount == 2 * count)
    queue.putBack(resource, of: .server)
    for task in tasks { try await task.value }
    #expect(order.withLock { $0.count { $0 == "user" } } == count)
    #expect(try await queue.take(for: ada) == 0)
  }

  @Test func `visitors never have all resources`() async throws {
    let queue = TurnQueue([0, 1])
    let (one, other) = (Turn.visitor(network: 1), Turn.visitor(network: 2))
    let first = try await queue.take(for: one)
    let second = Task { try await queue.take(for: other) }
    while queue.waitingCount == 0 { await Task.yield() }
    // A user does not wait for a visitor.
    let own = try await queue.take(for: ada)
    #expect(queue.waitingCount == 1 && own != first)
    queue.putBack(own, of: ada)
    #expect(queue.waitingCount == 1)
    queue.putBack(first, of: one)
    #expect(try await second.value == first)
    queue.putBack(first, of: other)
    _ = try await queue.take(for: one)
    _ = try await queue.take(for: ada)
    #expect(queue.waitingCount == 0)
  }

  @Test func `a cancelled request leaves the queue`() async throws {
    let resource = try await queue.take(for: .server)
    let cancelled = await enqueue("ada", for: ada)
    let other = await enqueue("ben", for: ben)
    cancelled.cancel()
    await #expect(throws: Refusal.unavailable) { try await cancelled.value }
    #expect(queue.waitingCount == 1)
    queue.putBack(resource, of: .server)
    try await other.value
    #expect(order.withLock { $0 } == ["ben"])
  }
}
