// getaddrinfo blocks for as long as it likes and can't be told to stop. So it has threads of its own, a bounded number; who
// waits is let go in time, and the thread comes back when it does.

import Dispatch
package import ParleyNetworking
import Synchronization

/// Asks where names lead, off the loops.
package final class NameLookup: Sendable {
  /// Why nobody knows.
  package enum Failure: Error, Sendable, Hashable {
    case unknownHost
    case tooSlow
    /// As many are looked up as may be.
    case busy
  }

  private let most: Int
  private let underWay = Atomic<Int>(0)
  private let queue = DispatchQueue(label: "parley.names", attributes: .concurrent)

  package init(most: Int) { self.most = most }

  package func addresses(
    of name: String, port: UInt16, within nanoseconds: Int64
  ) async throws(Failure) -> [SocketAddress] {
    guard underWay.add(1, ordering: .relaxed).newValue <= most else {
      underWay.subtract(1, ordering: .relaxed)
      throw .busy
    }
    let found = await withCheckedContinuation { continuation in
      let answer = Once<Result<[SocketAddress], Failure>>(continuation, orElse: .failure(.unknownHost))
      queue.async { [self] in
        let found: Result<[SocketAddress], Failure>
        do throws(SystemError) {
          found = .success(try SocketAddress.resolve(host: name, port: port))
        } catch {
          found = .failure(.unknownHost)
        }
        underWay.subtract(1, ordering: .relaxed)
        answer.give(found)
      }
      queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { answer.give(.failure(.tooSlow)) }
    }
    return try found.get()
  }
}
