public import ParleyModel
import Synchronization

/// The caller that waits for a limited resource, such as a background thread.
public struct Turn: Sendable, Hashable {
  private enum Owner: Hashable {
    case server
    case user(ID<User>)
    case visitor(network: Int)
  }

  private let owner: Owner

  /// Work of the server itself. It is never refused.
  public static let server = Turn(owner: .server)
  public static func user(_ user: ID<User>) -> Turn { Turn(owner: .user(user)) }
  /// A visitor, by the hash of the network address. Equal hashes share their turns.
  public static func visitor(network: Int) -> Turn { Turn(owner: .visitor(network: network)) }

  fileprivate var isServer: Bool { owner == .server }
  fileprivate var isVisitor: Bool { if case .visitor = owner { true } else { false } }
}

/// Lends a few resources to many callers. The callers take turns, so that one with a hundred requests delays another one
/// by one request, not by a hundred. Visitors wait behind users and never have all resources, so that no request of a
/// visitor delays one of a user.
public final class TurnQueue<Resource: Sendable>: Sendable {
  private let state: Mutex<State>

  /// Maximum number of waiting requests of one caller; and of all users, as of all visitors.
  public static var maxWaitingPerCaller: Int { 128 }
  public static var maxWaiting: Int { 512 }

  public init(_ resources: [Resource]) {
    state = Mutex(State(free: resources))
  }

  private typealias Waiter = (number: Int, continuation: CheckedContinuation<Resource?, Never>)

  /// The waiting requests of users or of visitors.
  private struct Line {
    /// The callers with a waiting request, the next one first.
    private var callers: [Turn] = []
    private var waiters: [Turn: [Waiter]] = [:]
    private(set) var count = 0

    func count(of turn: Turn) -> Int { waiters[turn]?.count ?? 0 }

    mutating func append(_ waiter: Waiter, for turn: Turn) {
      if waiters[turn] == nil { callers.append(turn) }
      waiters[turn, default: []].append(waiter)
      count += 1
    }

    mutating func removeFirst() -> Waiter? {
      guard !callers.isEmpty else { return nil }
      let turn = callers.removeFirst()
      guard var own = waiters.removeValue(forKey: turn) else { return nil }
      let waiter = own.removeFirst()
      count -= 1
      if !own.isEmpty {
        waiters[turn] = own
        callers.append(turn)
      }
      return waiter
    }

    mutating func remove(_ number: Int, of turn: Turn) -> Waiter? {
      guard var own = waiters[turn], let index = own.firstIndex(where: { $0.number == number }) else { return nil }
      let waiter = own.remove(at: index)
      count -= 1
      waiters[turn] = own.isEmpty ? nil : own
      if own.isEmpty { callers.removeAll { $0 == turn } }
      return waiter
    }
  }

  private struct State {
    var free: [Resource]
    var users = Line()
    var visitors = Line()
    var lastNumber = 0
    /// Resources that visitors have now, and how many they may have.
    var visitorCount = 0
    let maxVisitors: Int

    init(free: [Resource]) {
      self.free = free
      maxVisitors = max(1, free.count - 1)
    }

    mutating func takeFree(for turn: Turn) -> Resource? {
      guard turn.isVisitor else { return free.popLast() }
      guard visitorCount < maxVisitors, let resource = free.popLast() else { return nil }
      visitorCount += 1
      return resource
    }

    mutating func next() -> Waiter? {
      var waiter = users.removeFirst()
      if waiter == nil, visitorCount < maxVisitors {
        waiter = visitors.removeFirst()
        if waiter != nil { visitorCount += 1 }
      }
      return waiter
    }

    func accepts(_ turn: Turn) -> Bool {
      if turn.isServer { return true }
      let line = turn.isVisitor ? visitors : users
      return line.count < TurnQueue.maxWaiting && line.count(of: turn) < TurnQueue.maxWaitingPerCaller
    }

    mutating func append(_ waiter: Waiter, for turn: Turn) {
      if turn.isVisitor { visitors.append(waiter, for: turn) } else { users.append(waiter, for: turn) }
    }

    mutating func remove(_ number: Int, of turn: Turn) -> Waiter? {
      turn.isVisitor ? visitors.remove(number, of: turn) : users.remove(number, of: turn)
    }
  }

  public var waitingCount: Int { state.withLock { $0.users.count + $0.visitors.count } }

  /// Waits for a resource. Throws `unavailable` if too many requests wait, or if the task is cancelled.
  public func take(for turn: Turn) async throws(Refusal) -> Resource {
    let (free, number) = state.withLock { state -> (Resource?, Int) in
      state.lastNumber += 1
      return (state.takeFree(for: turn), state.lastNumber)
    }
    if let free { return free }
    let taken = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Resource?? in
          if let free = state.takeFree(for: turn) { return .some(free) }
          guard state.accepts(turn) else { return .some(nil) }
          state.append((number, continuation), for: turn)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      state.withLock { $0.remove(number, of: turn) }?.continuation.resume(returning: nil)
    }
    guard let taken else { throw .unavailable }
    return taken
  }

  /// Returns the resource of a caller. The next waiting request gets it.
  public func putBack(_ resource: Resource, of turn: Turn) {
    let next = state.withLock { state -> Waiter? in
      if turn.isVisitor { state.visitorCount -= 1 }
      if let next = state.next() { return next }
      state.free.append(resource)
      return nil
    }
    next?.continuation.resume(returning: resource)
  }
}
