public import ParleyModel

/// Who is here: whoever has a device that follows along, and looks at one of them. Time is an argument, in milliseconds.
public struct PresenceBoard {
  public typealias Device = ObjectIdentifier

  private struct Person {
    var devices: [Device: Signal.Presence] = [:]
    /// What others were told.
    var told: Signal.Presence
    /// Grows with each time that others were told, and says when they may be told again.
    var bucket: Int64 = 0
    /// When others are told that nobody is there: a page that is loaded anew is no leaving.
    var goesAt: Int64?

    var now: Signal.Presence {
      if devices.isEmpty { return .offline }
      return devices.values.contains(.online) ? .online : .away
    }

    /// What others are to be told now. Who comes and goes all the time is told of now and then.
    mutating func news(isKnown: Bool, now: Int64) -> Signal.Presence? {
      let present = self.now
      guard present != .offline, !isKnown || present != told else { return nil }
      // A clock that was set back holds up nobody.
      let spent = bucket > now + PresenceBoard.burst * PresenceBoard.pause ? now : max(bucket, now)
      guard spent - now <= (PresenceBoard.burst - 1) * PresenceBoard.pause else { return nil }
      (told, bucket) = (present, spent + PresenceBoard.pause)
      return present
    }
  }

  private var people: [ID<Account>: Person] = [:]

  /// How long a person without a device is still here.
  static let grace: Int64 = 10_000
  /// Of one person others are told so often at once, and then once in so many milliseconds.
  static let burst: Int64 = 5
  static let pause: Int64 = 2_000

  public init() {}

  func told(of account: ID<Account>) -> Signal.Presence? { people[account]?.told }

  public var present: [ID<Account>] { Array(people.keys) }

  /// What others are to be told, if it is news.
  mutating func note(
    _ device: Device, of account: ID<Account>, _ presence: Signal.Presence, now: Int64
  ) -> Signal.Presence? {
    let isKnown = people[account] != nil
    var person = people[account] ?? Person(told: presence)
    person.devices[device] = presence == .offline ? nil : presence
    person.goesAt = person.devices.isEmpty ? person.goesAt ?? now + Self.grace : nil
    let news = person.news(isKnown: isKnown, now: now)
    people[account] = isKnown || person.now != .offline ? person : nil
    return news
  }

  /// Whether others had seen them.
  mutating func hide(_ account: ID<Account>) -> Bool { people.removeValue(forKey: account) != nil }

  /// Those who have been gone for a while, and what was held back.
  mutating func settle(now: Int64) -> [(ID<Account>, Signal.Presence)] {
    var told: [(ID<Account>, Signal.Presence)] = []
    for (account, person) in people {
      if let goesAt = person.goesAt {
        guard goesAt <= now else { continue }
        people[account] = nil
        told.append((account, .offline))
      } else if person.now != person.told, let news = people[account]?.news(isKnown: true, now: now) {
        told.append((account, news))
      }
    }
    return told
  }
}
