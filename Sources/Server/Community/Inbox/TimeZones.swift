import ParleyModel
import Storage
import Synchronization

/// Time zones of the system, read once.
final class TimeZones: Sendable {
  private let known = Mutex<[String: ZoneRules]>([:])

  private static let maxNameBytes = 64

  /// Nil for an unknown zone.
  func rules(of name: String) -> ZoneRules? {
    if let rules = known.withLock({ $0[name] }) { return rules }
    guard Self.isName(name), let rules = ZoneFiles.rules(of: name) else { return nil }
    known.withLock { $0[name] = rules }
    return rules
  }

  /// Whether it can be no path out of the folder.
  private static func isName(_ name: String) -> Bool {
    guard 1...maxNameBytes ~= name.utf8.count else { return false }
    return name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
      !part.isEmpty
        && part.utf8.allSatisfy { byte in
          switch byte {
          case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"): true
          default: false
          }
        }
    }
  }
}

extension NotificationSettings {
  /// Whether push messages tell of a notification at this time, in milliseconds since 1970.
  func allowPush(of kind: Notification.Kind, at time: Int64, in zones: TimeZones) -> Bool {
    if kind.isSecurity { return true }
    return push.contains(kind) && !isSilent(at: time, in: zones)
  }

  private func isSilent(at time: Int64, in zones: TimeZones) -> Bool {
    if isPaused { return true }
    if let snoozedUntil, time < snoozedUntil { return true }
    // A zone that a later system no longer knows silences nothing.
    guard let quietHours, let rules = zones.rules(of: quietHours.timeZone) else { return false }
    let seconds = Int(time / 1_000)
    return quietHours.contain(local: seconds + rules.offset(at: seconds))
  }
}
