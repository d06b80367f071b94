// getaddrinfo blocks for as long as it likes and can't be told to stop. So it has threads of its own, a bounded number; who
// waits is let go in time, and the thread comes back when it does.

import Calling
import Dispatch
import Networking
import Synchronization

/// Looks names up, off the loops.
final class NameLookup: Sendable {
  private let most: Int
  private let underWay = Atomic<Int>(0)
  private let queue = DispatchQueue(label: "parley.names", attributes: .concurrent)

  private typealias Answer = Result<[SocketAddress], OutgoingFault>

  init(most: Int) { self.most = most }

  func addresses(of host: String, port: UInt16, within milliseconds: Int) async throws(OutgoingFault) -> [SocketAddress]
  {
    guard underWay.add(1, ordering: .relaxed).newValue <= most else {
      underWay.subtract(1, ordering: .relaxed)
      throw .busy
    }
    let found = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
      let answer = Once(continuation, orElse: .failure(.unknownHost))
      queue.async { [self] in
        let found: Answer
        do throws(SystemError) {
          found = .success(try SocketAddress.resolve(host: host, port: port))
        } catch {
          found = .failure(.unknownHost)
        }
        underWay.subtract(1, ordering: .relaxed)
        answer.give(found)
      }
      queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { answer.give(.failure(.tooSlow)) }
    }
    return try found.get()
  }
}
