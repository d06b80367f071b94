public import ParleyJSON

/// Another program that users may let act for them (an OAuth client). Its id is the `client_id` of OAuth.
public struct App: Sendable, Hashable {
  public var id: ID<App>
  public var name: String
  public var website: String?
  public var redirectURIs: [String]
  /// The most that it may ask for.
  public var scope: Scope
  /// Whether it has a secret.
  public var isConfidential: Bool
  /// Whether an owner vouches for it.
  public var isVerified: Bool
  public var isEnabled: Bool
  /// Nil for an app that registered itself.
  public var creator: ID<User>?
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The users that have connected it.
  public var userCount: Int
  public var revision: Int

  public static let maxNameScalars = 64
  public static let redirectURIs = 1...10

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
  public var name: String
  public var website: String?
  public var redirectURIs: [String]
  public var scope: Scope
  public var isConfidential: Bool
  public var clientID: String?

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
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), website: try object.optional("website"),
      redirectURIs: try object.read("redirect_uris"), scope: try object.optionalWord("scope") ?? .write,
      isConfidential: try object.optional("confidential") ?? false, clientID: try object.optional("client_id"))
  }

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
  public var name: String?
  public var website: Change<String>
  public var redirectURIs: [String]?
  public var scope: Scope?
  public var isVerified: Bool?
  public var isEnabled: Bool?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

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
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.optional("name"), website: try object.change("website"),
      redirectURIs: try object.optional("redirect_uris"), scope: try object.optionalWord("scope"),
      isVerified: try object.optional("verified"), isEnabled: try object.optional("enabled"),
      ifRevision: try object.optional("if_revision"))
  }

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
