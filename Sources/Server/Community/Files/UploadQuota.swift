import ParleyModel
import Synchronization

/// Counts the bytes being received, per user and in total, so that unfinished uploads cannot fill the disk.
final class UploadQuota: Sendable {
  private let receiving = Mutex<[ID<User>: Int]>([:])

  /// The reservation of one upload, released on deinit.
  final class Reservation: Sendable {
    private let quota: UploadQuota
    private let user: ID<User>
    private let limits: (user: Int, site: Int)
    private let reserved = Mutex(0)

    fileprivate init(_ quota: UploadQuota, _ user: ID<User>, _ limits: (user: Int, site: Int)) {
      self.quota = quota
      self.user = user
      self.limits = limits
    }

    /// Reserves more bytes.
    func add(_ bytes: Int) throws(Refusal) {
      try quota.add(bytes, for: user, limits)
      reserved.withLock { $0 += bytes }
    }

    deinit {
      let bytes = reserved.withLock { $0 }
      quota.release(bytes, of: user)
    }
  }

  /// - Parameter limits: the remaining bytes of the user and of the site.
  func reserve(for user: ID<User>, _ limits: (user: Int, site: Int)) -> Reservation {
    Reservation(self, user, limits)
  }

  private func add(_ bytes: Int, for user: ID<User>, _ limits: (user: Int, site: Int)) throws(Refusal) {
    try receiving.withLock { receiving throws(Refusal) in
      let mine = (receiving[user] ?? 0) + bytes
      guard mine <= limits.user else { throw Refusal.noRoom(limit: limits.user) }
      guard receiving.values.reduce(bytes, +) <= limits.site else { throw Refusal.noRoom(limit: limits.site) }
      receiving[user] = mine
    }
  }

  private func release(_ bytes: Int, of user: ID<User>) {
    receiving.withLock { receiving in
      let left = (receiving[user] ?? 0) - bytes
      receiving[user] = left > 0 ? left : nil
    }
  }
}
