import ParleyModel
import Synchronization

/// How much is coming in at this moment, of each person and of all, so that what has not become a file yet can't fill the
/// disk either.
final class UploadRoom: Sendable {
  private let coming = Mutex<[ID<Account>: Int]>([:])

  /// Room that one upload takes, for as long as it is held.
  final class Share: Sendable {
    private let room: UploadRoom
    private let account: ID<Account>
    private let limits: (person: Int, place: Int)
    private let taken = Mutex(0)

    fileprivate init(_ room: UploadRoom, _ account: ID<Account>, _ limits: (person: Int, place: Int)) {
      self.room = room
      self.account = account
      self.limits = limits
    }

    /// For so many bytes more.
    func take(_ bytes: Int) throws(Refusal) {
      try room.take(bytes, for: account, limits)
      taken.withLock { $0 += bytes }
    }

    deinit {
      let bytes = taken.withLock { $0 }
      room.giveBack(bytes, of: account)
    }
  }

  /// - Parameter limits: what is left to the person and to the place.
  func share(for account: ID<Account>, _ limits: (person: Int, place: Int)) -> Share { Share(self, account, limits) }

  private func take(_ bytes: Int, for account: ID<Account>, _ limits: (person: Int, place: Int)) throws(Refusal) {
    try coming.withLock { coming throws(Refusal) in
      let mine = (coming[account] ?? 0) + bytes
      guard mine <= limits.person else { throw Refusal.noRoom(limit: limits.person) }
      guard coming.values.reduce(bytes, +) <= limits.place else { throw Refusal.noRoom(limit: limits.place) }
      coming[account] = mine
    }
  }

  private func giveBack(_ bytes: Int, of account: ID<Account>) {
    coming.withLock { coming in
      let left = (coming[account] ?? 0) - bytes
      coming[account] = left > 0 ? left : nil
    }
  }
}
