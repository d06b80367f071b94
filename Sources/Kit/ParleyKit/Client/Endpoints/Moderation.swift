public import ParleyJSON
public import ParleyModel

// Reports, sanctions, removals and the audit log.

/// The subject of a report.
public enum ReportSubject: Sendable, Hashable {
  /// A report of a message.
  case message(ID<Message>)
  /// A report of a user.
  case user(UserReference)
}

/// The authors of a removal: one user, or all users who signed up with an invite.
public enum RemovalTarget: Sendable, Hashable {
  /// The messages of a user.
  case user(UserReference)
  /// The messages of all users that signed up with an invite.
  case invite(ID<Invite>)
}

extension Request where Response == Resource<Sanction> {
  /// `POST /users/{id}/warn`
  public static func warnUser(_ user: UserReference, reason: String, clientID: String? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("reason", reason)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/users/{id}/warn", [user.description], body: body).withClientID(clientID)
  }

  /// `PUT /users/{id}/silence`
  ///
  /// - Parameters:
  ///   - forum: nil for the whole site.
  ///   - until: nil for a permanent silence.
  public static func silenceUser(
    _ user: UserReference, in forum: ID<Forum>? = nil, until: Timestamp? = nil, reason: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("forum", forum)
      json.optional("until", until)
      json.optional("reason", reason)
    }
    return Request(.put, "/users/{id}/silence", [user.description], body: body)
  }

  /// `PUT /users/{id}/ban`
  ///
  /// - Parameters:
  ///   - until: nil for a permanent ban.
  ///   - closesInvite: also revokes the user's invite.
  public static func banUser(
    _ user: UserReference, until: Timestamp? = nil, reason: String? = nil, closesInvite: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("until", until)
      json.optional("reason", reason)
      json.optional("revoke_invite", closesInvite)
    }
    return Request(.put, "/users/{id}/ban", [user.description], body: body)
  }
}

extension Request where Response == Resource<Report> {
  /// `POST /reports`
  public static func createReport(_ reported: ReportSubject, reason: String, clientID: String? = nil) -> Request {
    let body = RequestBody.object { json in
      switch reported {
      case .message(let id): json.field("message_id", id)
      case .user(let user): json.field("user", user)
      }
      json.field("reason", reason)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/reports", body: body).withClientID(clientID)
  }

  /// `GET /reports/{id}`
  public static func getReport(_ report: ID<Report>) -> Request {
    Request(.get, "/reports/{id}", [report.description])
  }

  /// `PATCH /reports/{id}`
  public static func updateReport(
    _ report: ID<Report>, state: Report.State? = nil, assignee: Change<UserReference> = .unchanged,
    outcome: Change<String> = .unchanged, ifRevision: Int? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("state", state)
      json.optional("assignee", assignee)
      json.optional("outcome", outcome)
      json.optional("if_revision", ifRevision)
    }
    return Request(.patch, "/reports/{id}", [report.description], body: body)
  }
}

extension Request where Response == Resource<ReportsChanged> {
  /// `PATCH /reports`: closes all open reports about a user, or reopens those closed at `handledAt`.
  public static func updateReports(
    about user: UserReference, in forum: ID<Forum>? = nil, state: Report.State, outcome: String? = nil,
    handledAt: Timestamp? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("user", user)
      json.optional("forum_id", forum)
      json.field("state", state.rawValue)
      json.optional("outcome", outcome)
      json.optional("handled_at", handledAt)
    }
    return Request(.patch, "/reports", body: body)
  }
}

extension Request where Response == Resource<ModerationRule> {
  /// `POST /moderation-rules`
  public static func createModerationRule(_ draft: ModerationRuleDraft) -> Request {
    Request(.post, "/moderation-rules", body: .value(draft)).withClientID(draft.clientID)
  }

  /// `GET /moderation-rules/{id}`
  public static func getModerationRule(_ rule: ID<ModerationRule>) -> Request {
    Request(.get, "/moderation-rules/{id}", [rule.description])
  }

  /// `PATCH /moderation-rules/{id}`
  public static func updateModerationRule(_ rule: ID<ModerationRule>, _ change: ModerationRuleChange) -> Request {
    Request(.patch, "/moderation-rules/{id}", [rule.description], body: .value(change))
  }
}

extension Request where Response == Resource<ModerationRuleTrial> {
  /// `POST /moderation-rules/trial`: the last messages that a rule would have matched.
  public static func tryModerationRule(_ draft: ModerationRuleDraft) -> Request {
    Request(.post, "/moderation-rules/trial", body: .value(draft))
  }
}

/// The content that `destroyContent` destroys.
public enum DestructionTarget: Sendable, Hashable {
  /// With its files, wherever else they are used.
  case message(ID<Message>)
  /// All files with the same content.
  case file(ID<File>)
  /// With all messages and files.
  case user(UserReference)
}

extension Request where Response == Resource<Destruction> {
  /// `POST /destructions`: destroys content for good, for owners.
  public static func destroyContent(_ target: DestructionTarget, reason: String) -> Request {
    let body = RequestBody.object { json in
      switch target {
      case .message(let id): json.field("message", id)
      case .file(let id): json.field("file", id)
      case .user(let user): json.field("user", user)
      }
      json.field("reason", reason)
    }
    return Request(.post, "/destructions", body: body)
  }
}

extension Request where Response == Resource<Removal> {
  /// `POST /removals`
  ///
  /// - Parameter forum: nil for the whole site.
  public static func createRemoval(
    by authors: RemovalTarget, since: Timestamp, in forum: ID<Forum>? = nil, reason: String? = nil,
    clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      switch authors {
      case .user(let user): json.field("author", user)
      case .invite(let id): json.field("invite", id)
      }
      json.field("since", since)
      json.optional("forum", forum)
      json.optional("reason", reason)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/removals", body: body).withClientID(clientID)
  }

  /// `GET /removals/{id}`
  public static func getRemoval(_ removal: ID<Removal>) -> Request {
    Request(.get, "/removals/{id}", [removal.description])
  }

  /// `DELETE /removals/{id}`
  public static func undoRemoval(_ removal: ID<Removal>, reason: String? = nil) -> Request {
    Request(.delete, "/removals/{id}", [removal.description], body: .reason(reason))
  }
}

extension Request where Response == Void {
  /// `DELETE /moderation-rules/{id}`
  public static func deleteModerationRule(_ rule: ID<ModerationRule>) -> Request {
    Request(.delete, "/moderation-rules/{id}", [rule.description])
  }

  /// `DELETE /users/{id}/silence`
  public static func unsilenceUser(
    of user: UserReference, in forum: ID<Forum>? = nil, reason: String? = nil
  ) -> Request {
    Request(
      .delete, "/users/{id}/silence", [user.description], query: [QueryItem("forum", forum)], body: .reason(reason))
  }

  /// `DELETE /users/{id}/ban`
  public static func unbanUser(of user: UserReference, reason: String? = nil) -> Request {
    Request(.delete, "/users/{id}/ban", [user.description], body: .reason(reason))
  }
}

extension Request where Response == Page<Resource<Sanction>> {
  /// `GET /users/{id}/sanctions`
  public static func listSanctions(
    of user: UserReference, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/users/{id}/sanctions", [user.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<Report>> {
  /// `GET /reports`
  public static func listReports(
    state: Report.State? = nil, forum: ID<Forum>? = nil, user: String? = nil, assignee: String? = nil,
    group: ReportGrouping? = nil,
    limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/reports",
      query: [
        QueryItem("state", state), QueryItem("forum", forum), QueryItem("user", user), QueryItem("assignee", assignee),
        QueryItem("group", group), QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Page<Resource<ModerationRule>> {
  /// `GET /moderation-rules`
  public static func listModerationRules(
    limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/moderation-rules",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<AuditRecord>> {
  /// `GET /audit`
  public static func listAuditEntries(
    actor: String? = nil, subject: String? = nil, kind: String? = nil, forum: ID<Forum>? = nil,
    afterTime: Timestamp? = nil, beforeTime: Timestamp? = nil, limit: Int? = nil, next: String? = nil,
    previous: String? = nil
  ) -> Request {
    Request(
      .get, "/audit",
      query: [
        QueryItem("actor", actor), QueryItem("subject", subject), QueryItem("kind", kind), QueryItem("forum", forum),
        QueryItem("after_time", afterTime), QueryItem("before_time", beforeTime), QueryItem("limit", limit),
        QueryItem("next", next), QueryItem("previous", previous),
      ])
  }
}

extension RequestBody {
  static func reason(_ reason: String?) -> RequestBody {
    .object { json in json.optional("reason", reason) }
  }
}
