public import ParleyJSON

/// Request to register.
public struct Registration: Sendable {
  /// Nil with an invite that claims an imported user, which has a name.
  public var name: String?
  public var password: String
  public var displayName: String?
  public var invite: String?
  public var acceptsRules: Bool
  public var clientID: String?
  public var device: String

  public init(
    name: String?, password: String, displayName: String? = nil, invite: String? = nil, acceptsRules: Bool = false,
    clientID: String? = nil, device: String = ""
  ) {
    (self.name, self.password, self.displayName, self.invite) = (name, password, displayName, invite)
    (self.acceptsRules, self.clientID, self.device) = (acceptsRules, clientID, device)
  }

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

/// Use of a one-time link.
public struct LinkUse: Sendable {
  /// For a setup link: the owner's name.
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
