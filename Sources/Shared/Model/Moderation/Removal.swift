public import ParleyJSON

/// Bulk removal of messages: of one user, or of all users of an invite and of the invites derived from it.
public struct Removal: Sendable, Hashable {
  /// The id of the removal.
  public var id: ID<Removal>
  /// Exactly one of the two is set.
  public var author: ID<User>?
  /// The invite; its users and those of invites derived from it are the authors. Nil for the removal of one author's messages.
  public var invite: ID<Invite>?
  /// Nil for the whole site.
  public var forum: ID<Forum>?
  /// Earlier messages stay.
  public var since: Int64
  /// The moderator's reason; nil without one.
  public var reason: String?
  /// The moderator that removed the messages.
  public var createdBy: ID<User>
  /// The time of the request, in milliseconds since 1970.
  public var createdAt: Int64
  /// Messages removed so far.
  public var removedCount: Int
  /// The time at which the removal ended, in milliseconds since 1970; nil while the job runs.
  public var finishedAt: Int64?
  /// The moderator that has undone the removal; nil if it is in effect.
  public var undoneBy: ID<User>?
  /// The time of the undoing, in milliseconds since 1970; nil if the removal is in effect.
  public var undoneAt: Int64?
  /// Messages restored so far.
  public var restoredCount: Int
  /// The time at which all messages were restored, in milliseconds since 1970; nil before.
  public var restoredAt: Int64?

  /// A bulk removal and its progress; all times are in milliseconds since 1970.
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
  /// The author of the messages; nil for all users of an invite.
  public var author: UserReference?
  /// The invite of the authors; exactly one of `author` and `invite` is set.
  public var invite: ID<Invite>?
  /// The forum of the messages; nil for the whole site.
  public var forum: ID<Forum>?
  /// The time of the earliest message to remove, in milliseconds since 1970.
  public var since: Int64
  /// The reason for the audit log and the tombstones, of at most 1,000 Unicode scalars; nil without one.
  public var reason: String?
  /// Idempotency key of at most 64 bytes: a repeated request makes no second removal.
  public var clientID: String?

  /// Reads a request for a bulk removal from its body.
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
