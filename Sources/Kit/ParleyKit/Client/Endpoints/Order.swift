public import ParleyJSON
public import ParleyModel

// What those who keep order do.

/// Whom or what a report is about.
public enum Reported: Sendable, Hashable {
  case message(ID<Message>)
  case person(AccountReference)
}

/// Whose messages are removed together: somebody's, or those of all who came by an invite.
public enum RemovedAuthors: Sendable, Hashable {
  case person(AccountReference)
  case invite(String)
}

extension Request where Answer == Resource<Sanction> {
  /// `POST /users/{id}/warn`
  public static func warn(_ person: AccountReference, reason: String, clientID: String? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("reason", reason)
      json.given("client_id", clientID)
    }
    return Request(.post, "/users/{id}/warn", [person.description], body: body).named(clientID)
  }

  /// `PUT /users/{id}/silence`
  ///
  /// - Parameters:
  ///   - forum: nil for everywhere.
  ///   - until: nil for good.
  public static func silence(
    _ person: AccountReference, in forum: ID<Forum>? = nil, until: Timestamp? = nil, reason: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("forum", forum)
      json.given("until", until)
      json.given("reason", reason)
    }
    return Request(.put, "/users/{id}/silence", [person.description], body: body)
  }

  /// `PUT /users/{id}/ban`
  ///
  /// - Parameters:
  ///   - until: nil for good.
  ///   - closesInvite: closes the invite by which the person came, too.
  public static func ban(
    _ person: AccountReference, until: Timestamp? = nil, reason: String? = nil, closesInvite: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("until", until)
      json.given("reason", reason)
      json.given("close_invite", closesInvite)
    }
    return Request(.put, "/users/{id}/ban", [person.description], body: body)
  }
}

extension Request where Answer == Resource<Report> {
  /// `POST /reports`
  public static func report(_ reported: Reported, reason: String, clientID: String? = nil) -> Request {
    let body = RequestBody.object { json in
      switch reported {
      case .message(let id): json.field("message_id", id)
      case .person(let person): json.field("user", person)
      }
      json.field("reason", reason)
      json.given("client_id", clientID)
    }
    return Request(.post, "/reports", body: body).named(clientID)
  }

  /// `GET /reports/{id}`
  public static func report(_ report: ID<Report>) -> Request {
    Request(.get, "/reports/{id}", [report.description])
  }

  /// `PATCH /reports/{id}`
  public static func judge(
    _ report: ID<Report>, state: Report.State? = nil, assignee: Change<AccountReference> = .unchanged,
    outcome: Change<String> = .unchanged, ifRevision: Int? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("state", state)
      json.given("assignee", assignee)
      json.given("outcome", outcome)
      json.given("if_revision", ifRevision)
    }
    return Request(.patch, "/reports/{id}", [report.description], body: body)
  }
}

extension Request where Answer == Resource<Removal> {
  /// `POST /removals`
  ///
  /// - Parameter forum: nil for everywhere.
  public static func removeMany(
    by authors: RemovedAuthors, since: Timestamp, in forum: ID<Forum>? = nil, reason: String? = nil,
    clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      switch authors {
      case .person(let person): json.field("author", person)
      case .invite(let code): json.field("invite", code)
      }
      json.field("since", since)
      json.given("forum", forum)
      json.given("reason", reason)
      json.given("client_id", clientID)
    }
    return Request(.post, "/removals", body: body).named(clientID)
  }

  /// `GET /removals/{id}`
  public static func removal(_ removal: ID<Removal>) -> Request {
    Request(.get, "/removals/{id}", [removal.description])
  }

  /// `DELETE /removals/{id}`
  public static func undoRemoval(_ removal: ID<Removal>, reason: String? = nil) -> Request {
    Request(.delete, "/removals/{id}", [removal.description], body: .reason(reason))
  }
}

extension Request where Answer == Void {
  /// `DELETE /users/{id}/silence`
  public static func endSilence(
    of person: AccountReference, in forum: ID<Forum>? = nil, reason: String? = nil
  ) -> Request {
    Request(
      .delete, "/users/{id}/silence", [person.description], query: [QueryItem("forum", forum)], body: .reason(reason))
  }

  /// `DELETE /users/{id}/ban`
  public static func endBan(of person: AccountReference, reason: String? = nil) -> Request {
    Request(.delete, "/users/{id}/ban", [person.description], body: .reason(reason))
  }
}

extension Request where Answer == Page<Resource<Sanction>> {
  /// `GET /users/{id}/sanctions`
  public static func sanctions(of person: AccountReference, limit: Int? = nil, next: String? = nil) -> Request {
    Request(
      .get, "/users/{id}/sanctions", [person.description], query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Page<Resource<Report>> {
  /// `GET /reports`
  public static func reports(
    state: String? = nil, forum: ID<Forum>? = nil, user: String? = nil, assignee: String? = nil, limit: Int? = nil,
    next: String? = nil
  ) -> Request {
    Request(
      .get, "/reports",
      query: [
        QueryItem("state", state), QueryItem("forum", forum), QueryItem("user", user), QueryItem("assignee", assignee),
        QueryItem("limit", limit), QueryItem("next", next),
      ])
  }
}

extension RequestBody {
  /// Why something is done.
  static func reason(_ reason: String?) -> RequestBody {
    .object { json in json.given("reason", reason) }
  }
}
