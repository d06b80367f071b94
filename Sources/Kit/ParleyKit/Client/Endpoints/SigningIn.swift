public import ParleyJSON
public import ParleyModel

// Ways in: sessions, tokens, links and invites.

extension Request where Answer == Resource<LinkPurpose> {
  /// `GET /links/{code}`
  public static func link(_ code: String) -> Request {
    Request(.get, "/links/{code}", [code])
  }
}

extension Request where Answer == Resource<Invite> {
  /// `POST /invites`
  ///
  /// - Parameters:
  ///   - person: the imported one whom it lets in.
  ///   - role: no owner, and no bot.
  public static func makeInvite(
    for person: AccountReference? = nil, role: Role? = nil, to forum: ID<Forum>? = nil, maxUses: Int? = nil,
    expiresAt: Timestamp? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("user_id", person)
      json.given("role", role)
      json.given("forum_id", forum)
      json.given("max_uses", maxUses)
      json.given("expires_at", expiresAt)
      json.given("client_id", clientID)
    }
    return Request(.post, "/invites", body: body).named(clientID)
  }
}

extension Request where Answer == Resource<SeenInvite> {
  /// `GET /invites/{code}`
  public static func invite(_ code: String) -> Request {
    Request(.get, "/invites/{code}", [code])
  }
}

extension Request where Answer == Page<Resource<Invite>> {
  /// `GET /invites`
  public static func invites(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/invites", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Void {
  /// `DELETE /sessions/{id}`
  public static func endSession(_ session: String) -> Request {
    Request(.delete, "/sessions/{id}", [session])
  }

  /// `DELETE /me/tokens/{id}`
  public static func endToken(_ token: String) -> Request {
    Request(.delete, "/me/tokens/{id}", [token])
  }

  /// `PUT /me/password`
  public static func changePassword(from old: String, to password: String) -> Request {
    let body = RequestBody.object { json in
      json.field("old_password", old)
      json.field("password", password)
    }
    return Request(.put, "/me/password", body: body)
  }

  /// `DELETE /invites/{code}`
  ///
  /// - Parameter bans: those who came by it, too.
  public static func closeInvite(
    _ code: String, descendants: Bool? = nil, bans: Bool? = nil, reason: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("ban", bans)
      json.given("reason", reason)
    }
    return Request(.delete, "/invites/{code}", [code], query: [QueryItem("descendants", descendants)], body: body)
  }
}

extension Request where Answer == Resource<SignedIn> {
  /// `POST /sessions`
  ///
  /// - Parameter cookie: for browsers, where the token is not told but kept by them.
  public static func signIn(
    _ name: String, password: String, device: String? = nil, cookie: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("username", name)
      json.field("password", password)
      json.given("device", device)
      json.given("cookie", cookie)
    }
    return Request(.post, "/sessions", body: body)
  }

  /// `POST /links/{code}`
  ///
  /// - Parameters:
  ///   - name: of the owner, where the link sets the place up.
  ///   - cookie: for browsers, where the token is not told but kept by them.
  public static func useLink(
    _ code: String, password: String, name: String? = nil, displayName: String? = nil, device: String? = nil,
    cookie: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("password", password)
      json.given("name", name)
      json.given("display_name", displayName)
      json.given("device", device)
      json.given("cookie", cookie)
    }
    return Request(.post, "/links/{code}", [code], body: body)
  }
}

extension Request where Answer == Resource<MadeToken> {
  /// `POST /me/tokens`
  ///
  /// - Parameter clientID: asked for twice, the token is told once: the second answer has none. So an answer that was lost
  ///   is told, and not asked for again by itself.
  public static func makeToken(
    name: String, scope: Scope, expiresAt: Timestamp? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.field("scope", scope.rawValue)
      json.given("expires_at", expiresAt)
      json.given("client_id", clientID)
    }
    return Request(.post, "/me/tokens", body: body)
  }
}

extension Request where Answer == Page<Resource<WayIn>> {
  /// `GET /sessions`
  public static func sessions(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/sessions", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }

  /// `GET /me/tokens`
  public static func tokens(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/me/tokens", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}
