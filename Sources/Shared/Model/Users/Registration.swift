public import ParleyJSON

/// Request to register.
public struct Registration: Sendable {
  /// Nil with an invite that claims an imported user, which has a name.
  public var name: String?
  /// At least 8 characters, at most 1,024 bytes; the server refuses the most common passwords.
  public var password: String
  /// The name shown in place of `name`, at most 64 characters; nil for none.
  public var displayName: String?
  /// The code of an invite; nil for a sign-up without one.
  public var invite: String?
  /// Whether the user accepts the rules of the site; required on a site with rules.
  public var acceptsRules: Bool
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second user.
  public var clientID: String?
  /// The name of the session in the list of devices, at most 100 characters.
  public var device: String

  /// A sign-up with a name and a password, or with an invite that claims an imported user.
  public init(
    name: String?, password: String, displayName: String? = nil, invite: String? = nil, acceptsRules: Bool = false,
    clientID: String? = nil, device: String = ""
  ) {
    (self.name, self.password, self.displayName, self.invite) = (name, password, displayName, invite)
    (self.acceptsRules, self.clientID, self.device) = (acceptsRules, clientID, device)
  }

  /// Decodes the body of the request.
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
  /// For a setup link: the owner's display name; nil for none.
  public var displayName: String?
  /// The new password: at least 8 characters, at most 1,024 bytes.
  public var password: String
  /// The name of the session in the list of devices, at most 100 characters.
  public var device: String

  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.optional("name")
    displayName = try object.optional("display_name")
    password = try object.string("password")
    device = try object.optional("device") ?? ""
  }
}
