import ParleyJSON
public import ParleyModel

// People, and how one stands with them.

extension Request where Answer == Resource<ResetLink> {
  /// `POST /users/{id}/reset`
  public static func makeResetLink(_ person: AccountReference) -> Request {
    Request(.post, "/users/{id}/reset", [person.description])
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
    Request(
      .get, "/users/{id}/followers", [person.description], query: [QueryItem("limit", limit), QueryItem("next", next)])
  }

  /// `GET /users/{id}/following`
  public static func following(of person: AccountReference, limit: Int? = nil, next: String? = nil) -> Request {
    Request(
      .get, "/users/{id}/following", [person.description], query: [QueryItem("limit", limit), QueryItem("next", next)])
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
    Request(.get, "/users/{id}", [person.description])
  }

  /// `PATCH /users/{id}`
  public static func changePerson(_ person: AccountReference, _ change: AccountChange) -> Request {
    Request(.patch, "/users/{id}", [person.description], body: change.body)
  }

  /// `DELETE /users/{id}`
  ///
  /// - Parameters:
  ///   - password: who goes proves by it that it is they.
  ///   - reason: why the staff sends somebody away.
  public static func leave(
    _ person: AccountReference, how: Leaving.How? = nil, password: String? = nil, reason: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("how", how)
      json.given("password", password)
      json.given("reason", reason)
    }
    return Request(.delete, "/users/{id}", [person.description], body: body)
  }

  /// `PUT /users/{id}/approval`
  public static func approve(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/approval", [person.description])
  }

  /// `PUT /users/{id}/avatar`
  public static func setAvatar(of person: AccountReference, to file: ID<File>) -> Request {
    Request(.put, "/users/{id}/avatar", [person.description], body: .object { json in json.field("file", file) })
  }
}

extension Request where Answer == Void {
  /// `DELETE /users/{id}/approval`
  public static func turnAway(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/approval", [person.description])
  }

  /// `DELETE /users/{id}/avatar`
  public static func removeAvatar(of person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/avatar", [person.description])
  }

  /// `PUT /users/{id}/follow`
  public static func follow(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/follow", [person.description])
  }

  /// `DELETE /users/{id}/follow`
  public static func unfollow(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/follow", [person.description])
  }

  /// `PUT /users/{id}/mute`
  public static func mute(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/mute", [person.description])
  }

  /// `DELETE /users/{id}/mute`
  public static func unmute(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/mute", [person.description])
  }

  /// `PUT /users/{id}/block`
  public static func block(_ person: AccountReference) -> Request {
    Request(.put, "/users/{id}/block", [person.description])
  }

  /// `DELETE /users/{id}/block`
  public static func unblock(_ person: AccountReference) -> Request {
    Request(.delete, "/users/{id}/block", [person.description])
  }
}

extension Request where Answer == Reply {
  /// `GET /users/{id}/avatar`
  public static func avatar(of person: AccountReference) -> Request {
    Request(.get, "/users/{id}/avatar", [person.description])
  }
}

extension Request where Answer == Page<Resource<Discovered>> {
  /// `POST /users/discover`
  ///
  /// - Parameter addresses: e-mail addresses, and telephone numbers with their country.
  public static func discover(_ addresses: [String]) -> Request {
    Request(.post, "/users/discover", body: .object { json in json.field("addresses", addresses) })
  }
}

extension Request where Answer == Resource<SignedIn> {
  /// `POST /users`
  ///
  /// - Parameters:
  ///   - name: nil where the invite lets an imported person in.
  ///   - cookie: for browsers, where the token is not told but kept by them.
  public static func register(
    _ name: String?, password: String, displayName: String? = nil, invite: String? = nil, acceptsRules: Bool? = nil,
    device: String? = nil, cookie: Bool? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("name", name)
      json.field("password", password)
      json.given("display_name", displayName)
      json.given("invite", invite)
      json.given("accept_rules", acceptsRules)
      json.given("device", device)
      json.given("cookie", cookie)
      json.given("client_id", clientID)
    }
    // Who has no name yet is not known by what was sent.
    return Request(.post, "/users", body: body).named(name == nil ? nil : clientID)
  }
}

extension Request where Answer == Resource<Conversation> {
  /// `GET /users/{id}/feed`
  public static func feed(of person: AccountReference) -> Request {
    Request(.get, "/users/{id}/feed", [person.description])
  }
}
