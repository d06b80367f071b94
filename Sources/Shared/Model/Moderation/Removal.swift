public import ParleyJSON

/// Bulk removal of messages: of one user, or of all users of an invite and of the invites derived from it.
public struct Removal: Sendable, Hashable {
  public var id: ID<Removal>
  /// Exactly one of the two is set.
  public var author: ID<User>?
  public var invite: ID<Invite>?
  /// Nil for the whole site.
  public var forum: ID<Forum>?
  /// Earlier messages stay.
  public var since: Int64
  public var reason: String?
  public var createdBy: ID<User>
  public var createdAt: Int64
  /// Messages removed so far.
  public var removedCount: Int
  public var finishedAt: Int64?
  public var undoneBy: ID<User>?
  public var undoneAt: Int64?
  /// Messages restored so far.
  public var restoredCount: Int
  public var restoredAt: Int64?

  public init(
    id: ID<Removal>, author: ID<User>?, invite: ID<Invite>?, forum: ID<Forum>?, since: Int64, reason: String?,
    createdBy: ID<User>, createdAt: Int64, removedCount: Int, finishedAt: Int64?, undoneBy: ID<User>?,
    undoneAt: Int64?, restoredCount: Int, restoredAt: Int64?
  ) {
    self.id = id
    self.author = author
    self.invite = invite
    self.forum = forum
    self.since = since
    self.reason = reason
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.removedCount = removedCount
    self.finishedAt = finishedAt
    self.undoneBy = undoneBy
    self.undoneAt = undoneAt
    self.restoredCount = restoredCount
    self.restoredAt = restoredAt
  }
}

extension Removal: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("author_id", author)
      json.field("invite_id", invite)
      json.field("forum_id", forum)
      json.field("since", Timestamp(since))
      json.field("reason", reason)
      json.field("created_by", createdBy)
      json.field("created_at", Timestamp(createdAt))
      json.field("removed", removedCount)
      json.field("finished_at", finishedAt.map { Timestamp($0) })
      json.field("undone_by", undoneBy)
      json.field("undone_at", undoneAt.map { Timestamp($0) })
      json.field("restored", restoredCount)
      json.field("restored_at", restoredAt.map { Timestamp($0) })
    }
  }
}

/// Request for a bulk removal.
public struct RemovalDraft: Sendable {
  public var author: UserReference?
  public var invite: ID<Invite>?
  public var forum: ID<Forum>?
  public var since: Int64
  public var reason: String?
  public var clientID: String?

  public init(_ object: inout JSONObject) throws(JSONError) {
    author = try object.optional("author")
    invite = try object.optional("invite")
    forum = try object.optional("forum")
    let since: Timestamp = try object.read("since")
    self.since = Int64(since.milliseconds)
    reason = try object.optional("reason")
    clientID = try object.optional("client_id")
  }
}
