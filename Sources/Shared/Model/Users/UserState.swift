/// State of a user on the site.
public enum UserState: String, Sendable, Hashable, CaseIterable {
  /// Registration awaits approval.
  case pending
  case active
  /// Disabled by staff.
  case disabled
  /// Deactivated by the user; the name stays.
  case deactivated
  /// Deleted; messages stay under "former member".
  case left
  /// Deleted with all messages.
  case erased

  public var hasGone: Bool { self == .left || self == .erased }
}
