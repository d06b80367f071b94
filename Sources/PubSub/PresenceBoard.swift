public import Model

/// Who is here: whoever has a device that follows along, and looks at one of them. Time is an argument, in milliseconds.
public struct PresenceBoard {
  public typealias Device = ObjectIdentifier

  private struct Person {
    var devices: [Device: Signal.Presence] = [:]
    /// What others were told.
    var told: Signal.Presence
    /// When others are told that nobody is there: a page that is loaded anew is no leaving.
    var goesAt: Int64?

    var now: Signal.Presence {
      if devices.isEmpty { return .offline }
      return devices.values.contains(.online) ? .online : .away
    }
  }

  private var people: [ID<Account>: Person] = [:]

  /// How long a person without a device is still here.
  static let grace: Int64 = 10_000

  public init() {}

  public var present: [ID<Account>: Signal.Presence] { people.mapValues(\.told) }

  /// What others are to be told, if it is news.
  mutating func note(
    _ device: Device, of account: ID<Account>, _ presence: Signal.Presence, now: Int64
  ) -> Signal.Presence? {
    let isKnown = people[account] != nil
    var person = people[account] ?? Person(told: presence)
    person.devices[device] = presence == .offline ? nil : presence
    person.goesAt = person.devices.isEmpty ? person.goesAt ?? now + Self.grace : nil
    let present = person.now
    let isNews = present != .offline && (!isKnown || present != person.told)
    if isNews { person.told = present }
    people[account] = isKnown || present != .offline ? person : nil
    return isNews ? present : nil
  }

  /// Whether others had seen them.
  mutating func hide(_ account: ID<Account>) -> Bool { people.removeValue(forKey: account) != nil }

  /// Those who have been gone for a while.
  mutating func settle(now: Int64) -> [(ID<Account>, Signal.Presence)] {
    let gone = people.filter { $0.value.goesAt.map { $0 <= now } ?? false }.keys
    for account in gone { people[account] = nil }
    return gone.map { ($0, .offline) }
  }
}
