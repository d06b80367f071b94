public import ParleyJSON

/// Another program that users may let act for them (an OAuth client). Its id is the `client_id` of OAuth.
public struct App: Sendable, Hashable {
  /// The id of the app.
  public var id: ID<App>
  /// The name that users see, at most `maxNameScalars`.
  public var name: String
  /// The address of the app's site; nil without one.
  public var website: String?
  /// The addresses to which the consent page may return.
  public var redirectURIs: [String]
  /// The most that it may ask for.
  public var scope: Scope
  /// Whether it has a secret.
  public var isConfidential: Bool
  /// Whether an owner vouches for it.
  public var isVerified: Bool
  /// Whether users may allow and use it.
  public var isEnabled: Bool
  /// Nil for an app that registered itself.
  public var creator: ID<User>?
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The users that have connected it.
  public var userCount: Int
  /// Increases with each change of the app; 1 at first.
  public var revision: Int

  /// Upper bound of `name`, in Unicode scalars.
  public static let maxNameScalars = 64
  /// Range of the number of redirect URIs.
  public static let redirectURIs = 1...10

  /// An app; by default verified and enabled, without a secret, with the scope `write`.
  public init(
    id: ID<App>, name: String, website: String? = nil, redirectURIs: [String], scope: Scope = .write,
    isConfidential: Bool = false, isVerified: Bool = true, isEnabled: Bool = true, creator: ID<User>?,
    createdAt: Int64, userCount: Int = 0, revision: Int = 1
  ) {
    self.id = id
    self.name = name
    self.website = website
    self.redirectURIs = redirectURIs
    self.scope = scope
    self.isConfidential = isConfidential
    self.isVerified = isVerified
    self.isEnabled = isEnabled
    self.creator = creator
    self.createdAt = createdAt
    self.userCount = userCount
    self.revision = revision
  }
}

extension App: JSONMembers {
  /// Decodes an app; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), name: try object.string("name"), website: try object.optional("website"),
      redirectURIs: try object.read("redirect_uris"), scope: try object.word("scope"),
      isConfidential: try object.bool("confidential"), isVerified: try object.bool("verified"),
      isEnabled: try object.bool("enabled"), creator: try object.optional("creator_id"),
      createdAt: Int64(createdAt.milliseconds), userCount: try object.int("user_count"),
      revision: try object.int("revision"))
  }

  /// Writes the members into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    json.field("website", website)
    json.field("redirect_uris", redirectURIs)
    json.field("scope", scope.rawValue)
    json.field("confidential", isConfidential)
    json.field("verified", isVerified)
    json.field("enabled", isEnabled)
    json.field("creator_id", creator)
    json.field("created_at", Timestamp(createdAt))
    json.field("user_count", userCount)
    json.field("revision", revision)
  }
}

/// Request to create an app.
public struct AppDraft: RepeatableDraft, Equatable {
  /// The name that users see, at most `App.maxNameScalars`.
  public var name: String
  /// The address of the app's site; nil without one.
  public var website: String?
  /// The addresses to which the consent page may return, 1 to 10.
  public var redirectURIs: [String]
  /// The highest scope that the app may ask for.
  public var scope: Scope
  /// Whether the app gets a secret: for programs on a server of their own.
  public var isConfidential: Bool
  /// Idempotency key of 1 to 64 characters, unlike the `client_id` of OAuth: a repeated request creates no second app.
  public var clientID: String?

  /// An app to create; by default without a secret, with the scope `write`.
  public init(
    name: String, website: String? = nil, redirectURIs: [String], scope: Scope = .write, isConfidential: Bool = false,
    clientID: String? = nil
  ) {
    self.name = name
    self.website = website
    self.redirectURIs = redirectURIs
    self.scope = scope
    self.isConfidential = isConfidential
    self.clientID = clientID
  }
}

extension AppDraft: JSONMembers {
  /// Decodes the body of a request to create an app.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), website: try object.optional("website"),
      redirectURIs: try object.read("redirect_uris"), scope: try object.optionalWord("scope") ?? .write,
      isConfidential: try object.optional("confidential") ?? false, clientID: try object.optional("client_id"))
  }

  /// Writes the members into an open object; nil members are absent.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("name", name)
    if let website { json.field("website", website) }
    json.field("redirect_uris", redirectURIs)
    json.field("scope", scope.rawValue)
    json.field("confidential", isConfidential)
    if let clientID { json.field("client_id", clientID) }
  }
}

/// PATCH of an app. Absent members stay unchanged.
public struct AppChange: Sendable, Equatable {
  /// The new name; nil leaves it unchanged.
  public var name: String?
  /// The new address of the app's site; `.cleared` removes it.
  public var website: Change<String>
  /// The new redirect URIs, 1 to 10, which replace all earlier ones; nil leaves them unchanged.
  public var redirectURIs: [String]?
  /// The new highest scope; nil leaves it unchanged.
  public var scope: Scope?
  /// Whether an owner vouches for the app; nil leaves it unchanged.
  public var isVerified: Bool?
  /// Whether users may allow and use the app; nil leaves it unchanged.
  public var isEnabled: Bool?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// A change of the given members; absent parameters change no member.
  public init(
    name: String? = nil, website: Change<String> = .unchanged, redirectURIs: [String]? = nil, scope: Scope? = nil,
    isVerified: Bool? = nil, isEnabled: Bool? = nil, ifRevision: Int? = nil
  ) {
    self.name = name
    self.website = website
    self.redirectURIs = redirectURIs
    self.scope = scope
    self.isVerified = isVerified
    self.isEnabled = isEnabled
    self.ifRevision = ifRevision
  }
}

extension AppChange: JSONMembers {
  /// Decodes the body of a PATCH of an app.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.optional("name"), website: try object.change("website"),
      redirectURIs: try object.optional("redirect_uris"), scope: try object.optionalWord("scope"),
      isVerified: try object.optional("verified"), isEnabled: try object.optional("enabled"),
      ifRevision: try object.optional("if_revision"))
  }

  /// Writes the changed members into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    if let name { json.field("name", name) }
    switch website {
    case .unchanged: break
    case .cleared: json.null("website")
    case .set(let website): json.field("website", website)
    }
    if let redirectURIs { json.field("redirect_uris", redirectURIs) }
    if let scope { json.field("scope", scope.rawValue) }
    if let isVerified { json.field("verified", isVerified) }
    if let isEnabled { json.field("enabled", isEnabled) }
    if let ifRevision { json.field("if_revision", ifRevision) }
  }
}
