// The times at which users signed out lately. A sign-out also ends a two-step sign-in that waits for its code: the next user of the
// device finds none. Challenges live in memory alone, so these do, too.

import ParleyModel
import Synchronization

final class SignOuts: Sendable {
  /// More entries than this are searched for old ones.
  private static let manyUsers = 1_000

  private let times = Mutex<[ID<User>: Int64]>([:])

  func note(_ user: ID<User>, at now: Int64) {
    times.withLock { times in
      times[user] = now
      guard times.count > Self.manyUsers else { return }
      times = times.filter { now - $0.value < SignedChallenge.life }
    }
  }

  /// Whether the user has signed out since a challenge was made.
  func hasSignedOut(_ user: ID<User>, since time: Int64) -> Bool {
    times.withLock { $0[user] ?? .min } >= time
  }
}
