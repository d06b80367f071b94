public import ParleyJSON

/// Somebody asks to come in.
public struct Registration: Sendable {
  /// Nil where an invite lets an imported user in: they have one.
  public var name: String?
  public var password: String
  public var displayName: String?
  public var invite: String?
  public var acceptsRules: Bool
  public var clientID: String?
  public var device: String

  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.optional("name")
    password = try object.string("password")
    displayName = try object.optional("display_name")
    invite = try object.optional("invite")
    acceptsRules = try object.optional("accept_rules") ?? false
    clientID = try object.optional("client_id")
    device = try object.optional("device") ?? ""
  }
}

/// Somebody comes in by a one-time link.
public struct LinkUse: Sendable {
  /// For a set-up link: what the owner is called.
  public var name: String?
  public var displayName: String?
  public var password: String
  public var device: String

  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.optional("name")
    displayName = try object.optional("display_name")
    password = try object.string("password")
    device = try object.optional("device") ?? ""
  }
}
