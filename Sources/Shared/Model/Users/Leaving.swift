public import ParleyJSON

/// Deactivation, departure or erasure of a user.
public struct Leaving: Sendable {
  /// The data that are deleted; `leave` if absent in the request.
  public var how: How
  /// Confirms the user's own request.
  public var password: String?
  /// Reason for a removal by staff.
  public var reason: String?

  /// Ways to leave the site, by the data that are deleted.
  public enum How: String, Sendable, Hashable, CaseIterable {
    /// Name and profile stay; signing in reactivates the user.
    case deactivate
    /// Name and profile are deleted; messages stay, under "former member".
    case leave
    /// Messages are erased too.
    case erase
  }

  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    how = try object.optionalWord("how") ?? .leave
    password = try object.optional("password")
    reason = try object.optional("reason")
  }
}
