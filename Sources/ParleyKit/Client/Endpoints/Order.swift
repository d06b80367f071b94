public import JSON
public import Model

// What those who keep order do.

extension Request where Answer == Resource<Sanction> {
  /// `POST /users/{id}/warn`
  public static func warn(_ person: AccountReference, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/users/{id}/warn", [person.text], body: .object(members))
  }

  /// `PUT /users/{id}/silence`
  public static func silence(_ person: AccountReference, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.put, "/users/{id}/silence", [person.text], body: .object(members))
  }

  /// `PUT /users/{id}/ban`
  public static func ban(_ person: AccountReference, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.put, "/users/{id}/ban", [person.text], body: .object(members))
  }
}

extension Request where Answer == Resource<Report> {
  /// `POST /reports`
  public static func report(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/reports", body: .object(members))
  }

  /// `GET /reports/{id}`
  public static func report(_ report: ID<Report>) -> Request {
    Request(.get, "/reports/{id}", [report.description])
  }

  /// `PATCH /reports/{id}`
  public static func judge(_ report: ID<Report>, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.patch, "/reports/{id}", [report.description], body: .object(members))
  }
}

extension Request where Answer == Resource<Removal> {
  /// `POST /removals`
  public static func removeMany(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/removals", body: .object(members))
  }

  /// `GET /removals/{id}`
  public static func removal(_ removal: ID<Removal>) -> Request {
    Request(.get, "/removals/{id}", [removal.description])
  }

  /// `DELETE /removals/{id}`
  public static func undoRemoval(_ removal: ID<Removal>, _ members: (inout JSONWriter) -> Void = { _ in }) -> Request {
    Request(.delete, "/removals/{id}", [removal.description], body: .object(members))
  }
}

extension Request where Answer == Void {
  /// `DELETE /users/{id}/silence`
  public static func endSilence(
    of person: AccountReference, forum: ID<Forum>? = nil, _ members: (inout JSONWriter) -> Void = { _ in }
  ) -> Request {
    Request(.delete, "/users/{id}/silence", [person.text], query: [QueryItem("forum", forum)], body: .object(members))
  }

  /// `DELETE /users/{id}/ban`
  public static func endBan(of person: AccountReference, _ members: (inout JSONWriter) -> Void = { _ in }) -> Request {
    Request(.delete, "/users/{id}/ban", [person.text], body: .object(members))
  }
}

extension Request where Answer == Page<Resource<Sanction>> {
  /// `GET /users/{id}/sanctions`
  public static func sanctions(of person: AccountReference, limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/users/{id}/sanctions", [person.text], query: [QueryItem("limit", limit), QueryItem("next", next)])
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
