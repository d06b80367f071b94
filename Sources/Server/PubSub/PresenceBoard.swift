public import ParleyModel

/// The presence of users. A user is present with at least one subscribed device, and `.online` with at least one device
/// in the foreground. Time is an argument, in milliseconds.
public struct PresenceBoard {
  public typealias Device = ObjectIdentifier

  private struct Entry {
    var devices: [Device: Signal.Presence] = [:]
    /// The presence last published.
    var published: Signal.Presence
    /// GCRA state of the rate limit: the time, in milliseconds, at which all published changes are paid for.
    var bucket: Int64 = 0
    /// The time at which the user goes offline. The grace period bridges a page reload.
    var offlineAt: Int64?

    var now: Signal.Presence {
      if devices.isEmpty { return .offline }
      return devices.values.contains(.online) ? .online : .away
    }

    /// The presence to publish now, or nil. Rate limited: `burst` changes at once, then one per `pause`.
    mutating func nextPresence(isKnown: Bool, now: Int64) -> Signal.Presence? {
      let present = self.now
      guard present != .offline, !isKnown || present != published else { return nil }
      // If the clock was set back, start over.
      let spent = bucket > now + PresenceBoard.burst * PresenceBoard.pause ? now : max(bucket, now)
      guard spent - now <= (PresenceBoard.burst - 1) * PresenceBoard.pause else { return nil }
      (published, bucket) = (present, spent + PresenceBoard.pause)
      return present
    }
  }

  private var entries: [ID<User>: Entry] = [:]

  /// Milliseconds that a user without a device stays present.
  static let grace: Int64 = 10_000
  /// At most `burst` changes of one user are published at once, then one every `pause` milliseconds.
  static let burst: Int64 = 5
  static let pause: Int64 = 2_000

  public init() {}

  func published(of user: ID<User>) -> Signal.Presence? { entries[user]?.published }

  public var present: [ID<User>] { Array(entries.keys) }

  /// Returns the presence to publish, or nil.
  mutating func update(
    _ device: Device, of user: ID<User>, _ presence: Signal.Presence, now: Int64
  ) -> Signal.Presence? {
    let isKnown = entries[user] != nil
    var entry = entries[user] ?? Entry(published: presence)
    entry.devices[device] = presence == .offline ? nil : presence
    entry.offlineAt = entry.devices.isEmpty ? entry.offlineAt ?? now + Self.grace : nil
    let presenceToPublish = entry.nextPresence(isKnown: isKnown, now: now)
    entries[user] = isKnown || entry.now != .offline ? entry : nil
    return presenceToPublish
  }

  /// Returns whether the user's presence was published.
  mutating func hide(_ user: ID<User>) -> Bool { entries.removeValue(forKey: user) != nil }

  /// Returns users whose grace period ended, and changes delayed by the rate limit.
  mutating func expire(now: Int64) -> [(ID<User>, Signal.Presence)] {
    var published: [(ID<User>, Signal.Presence)] = []
    for (user, entry) in entries {
      if let offlineAt = entry.offlineAt {
        guard offlineAt <= now else { continue }
        entries[user] = nil
        published.append((user, .offline))
      } else if entry.now != entry.published,
        let presenceToPublish = entries[user]?.nextPresence(isKnown: true, now: now)
      {
        published.append((user, presenceToPublish))
      }
    }
    return published
  }
}
