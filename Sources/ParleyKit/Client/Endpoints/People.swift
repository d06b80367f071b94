public import JSON
public import Model

// People, and how one stands with them.

extension Request where Answer == Resource<ResetLink> {
  /// `POST /users/{id}/reset`
  public static func makeResetLink(_ person: AccountReference) -> Request {
    Request(.post, "/users/{id}/reset", [person.text])
  }
}

extension Request where Answer == Page<Resource<Person>> {
  /// `GET /users`
  public static func people(query: String? = nil, state: String? = nil, limit: Int? = nil, next: String? = nil)
    -> Request
  {
    Request(
      .get, "/users",
      query: [QueryItem("query", query), QueryItem("state", state), QueryItem("limit", limit), QueryItem("next", next)])
  }

  /// `GET /users/{id}/followers`
  public static func followers(of person: AccountReference, limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/users/{id}/followers", [person.text], query: [QueryItem("limit", limit), QueryItem("next", next)])
  }

  /// `GET /users/{id}/following`
  public static func following(of person: AccountReference, limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/users/{id}/following", [person.text], query: [QueryItem("limit", limit), QueryItem("next", next)])
  }

  /// `GET /me/muted`
  public static func muted(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/me/muted", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }

  /// `GET /me/blocked`
  public static func blocked(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/me/blocked", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<Person> {
  /// `GET /users/{id}`
  public static func person(_ person: AccountReference) -> Request {
    Request(.get, "/users/{id}", [person.text])
  }

  /// `PATCH /users/{id}`
  public static func changePerson(_ person: AccountReference, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.patch, "/users/{id}", [person.text], body: .object(members))
  }

  /// `DELETE /users/{id}`
  public static func leave(_ person: AccountReference, _ members: (inout JSONWriter) -> Void = { _ in }) -> Request {
    Request(.delete, "/users/{id}", [person.text], body: .object(members))
  }

  /// `PUT /users/{id}/approval`
  public static func approve(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/approval", [person.text])
  }

  /// `PUT /users/{id}/avatar`
  public static func setAvatar(of person: AccountReference, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.put, "/users/{id}/avatar", [person.text], body: .object(members))
  }
}

extension Request where Answer == Void {
  /// `DELETE /users/{id}/approval`
  public static func turnAway(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/approval", [person.text])
  }

  /// `DELETE /users/{id}/avatar`
  public static func removeAvatar(of person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/avatar", [person.text])
  }

  /// `PUT /users/{id}/follow`
  public static func follow(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/follow", [person.text])
  }

  /// `DELETE /users/{id}/follow`
  public static func unfollow(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/follow", [person.text])
  }

  /// `PUT /users/{id}/mute`
  public static func mute(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/mute", [person.text])
  }

  /// `DELETE /users/{id}/mute`
  public static func unmute(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/mute", [person.text])
  }

  /// `PUT /users/{id}/block`
  public static func block(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/block", [person.text])
  }

  /// `DELETE /users/{id}/block`
  public static func unblock(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/block", [person.text])
  }
}

extension Request where Answer == Reply {
  /// `GET /users/{id}/avatar`
  public static func avatar(of person: AccountReference) -> Request {
    Request(.get, "/users/{id}/avatar", [person.text])
  }
}

extension Request where Answer == Page<Resource<Discovered>> {
  /// `POST /users/discover`
  public static func discover(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/users/discover", body: .object(members))
  }
}

extension Request where Answer == Resource<SignedIn> {
  /// `POST /users`
  public static func register(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/users", body: .object(members))
  }
}

extension Request where Answer == Resource<Conversation> {
  /// `GET /users/{id}/feed`
  public static func feed(of person: AccountReference) -> Request {
    Request(.get, "/users/{id}/feed", [person.text])
  }
}
