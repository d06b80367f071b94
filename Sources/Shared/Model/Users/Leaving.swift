public import ParleyJSON

/// How somebody goes.
public struct Leaving: Sendable {
  public var how: How
  /// Proves that it is they themselves who go.
  public var password: String?
  /// Why the staff sends them away.
  public var reason: String?

  public enum How: String, Sendable, Hashable, CaseIterable {
    /// The name and all else stays; signing in brings them back.
    case deactivate
    /// Name and profile go; what they wrote stays, under "former member".
    case leave
    /// What they wrote goes too.
    case erase
  }

  public init(_ object: inout JSONObject) throws(JSONError) {
    how = try object.optionalWord("how") ?? .leave
    password = try object.optional("password")
    reason = try object.optional("reason")
  }
}
