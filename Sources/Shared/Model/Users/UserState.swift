/// Where a user stands with the place.
public enum UserState: String, Sendable, Hashable, CaseIterable {
  /// Has asked to come in.
  case pending
  case active
  /// Kept out by those who look after the place.
  case disabled
  /// Away by their own wish; the name stays.
  case deactivated
  /// Gone; what they wrote stays under "former member".
  case left
  /// Gone with everything they wrote.
  case erased

  public var hasGone: Bool { self == .left || self == .erased }
}
