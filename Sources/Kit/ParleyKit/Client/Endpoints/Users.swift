import ParleyJSON
public import ParleyModel

// Users and the caller's relations to them.

extension Request where Response == Resource<PasswordResetLink> {
  /// `POST /users/{id}/reset`
  public static func createPasswordReset(_ user: UserReference) -> Request {
    Request(.post, "/users/{id}/reset", [user.description])
  }
}

extension Request where Response == Resource<UserRecovery> {
  /// `POST /users/{id}/recover`
  ///
  /// - Parameter kept: a linked account that goes on to sign in.
  public static func recoverUser(_ user: UserReference, keepIdentity kept: ID<Identity>? = nil) -> Request {
    let body = RequestBody.object { json in json.optional("keep_identity", kept) }
    return Request(.post, "/users/{id}/recover", [user.description], body: body)
  }
}

extension Request where Response == Resource<NewBot> {
  /// `POST /bots`
  ///
  /// - Parameters:
  ///   - forums: the forums that the bot joins; nil for the default forums.
  ///   - scope: not `admin`.
  ///   - clientID: the idempotency key. A repeated request returns no token, so the request is not retried
  ///     automatically.
  public static func createBot(
    name: String, displayName: String? = nil, forums: [ID<Forum>]? = nil, scope: Scope,
    limits: TokenLimits = TokenLimits(), clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.optional("display_name", displayName)
      json.optional("forums", forums)
      json.field("scope", scope.rawValue)
      if !limits.areNone { json.object("limits") { json in limits.write(to: &json) } }
      json.optional("client_id", clientID)
    }
    return Request(.post, "/bots", body: body)
  }
}

extension Request where Response == Resource<NewToken> {
  /// `POST /bots/{id}/tokens`
  ///
  /// - Parameters:
  ///   - scope: not `admin`.
  ///   - limits: the forums that the token reaches. Its rate replaces the limit of the bot.
  ///   - clientID: the idempotency key. A repeated request returns no secret, so the request is not retried
  ///     automatically.
  public static func createBotToken(
    of bot: UserReference, name: String, scope: Scope, limits: TokenLimits = TokenLimits(),
    expiresAt: Timestamp? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.field("scope", scope.rawValue)
      limits.write(to: &json)
      json.optional("expires_at", expiresAt)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/bots/{id}/tokens", [bot.description], body: body)
  }
}

extension Request where Response == Page<Resource<Credential>> {
  /// `GET /bots/{id}/tokens`
  public static func listBotTokens(
    of bot: UserReference, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/bots/{id}/tokens", [bot.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Void {
  /// `DELETE /bots/{id}/tokens/{token}`
  public static func revokeBotToken(_ token: ID<Session>, of bot: UserReference) -> Request {
    Request(.delete, "/bots/{id}/tokens/{token}", [bot.description, token.description])
  }
}

extension Request where Response == Page<Resource<Bot>> {
  /// `GET /bots`
  public static func listBots(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/bots", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<User>> {
  /// `GET /users`
  public static func listUsers(
    ids: [ID<User>]? = nil, query: String? = nil, state: UserState? = nil, limit: Int? = nil, next: String? = nil,
    previous: String? = nil
  ) -> Request {
    Request(
      .get, "/users",
      query: [
        QueryItem("ids", ids: ids), QueryItem("query", query), QueryItem("state", state), QueryItem("limit", limit),
        QueryItem("next", next), QueryItem("previous", previous),
      ])
  }

  /// `GET /users/{id}/followers`
  public static func listFollowers(
    of user: UserReference, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/users/{id}/followers", [user.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }

  /// `GET /users/{id}/following`
  public static func listFollowing(
    of user: UserReference, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/users/{id}/following", [user.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }

  /// `GET /me/muted`
  public static func listMutedUsers(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/muted", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }

  /// `GET /me/blocked`
  public static func listBlockedUsers(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/blocked", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Resource<User> {
  /// `GET /users/{id}`
  public static func getUser(_ user: UserReference) -> Request {
    Request(.get, "/users/{id}", [user.description])
  }

  /// `PATCH /users/{id}`
  public static func updateUser(_ user: UserReference, _ change: UserChange) -> Request {
    Request(.patch, "/users/{id}", [user.description], body: .value(change))
  }

  /// `DELETE /users/{id}`
  ///
  /// - Parameters:
  ///   - password: required to delete the caller's own user.
  ///   - reason: required of staff who delete another user.
  public static func deleteUser(
    _ user: UserReference, how: Leaving.How? = nil, password: String? = nil, reason: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("how", how)
      json.optional("password", password)
      json.optional("reason", reason)
    }
    return Request(.delete, "/users/{id}", [user.description], body: body)
  }

  /// `PUT /users/{id}/approval`
  public static func approveUser(_ user: UserReference) -> Request {
    Request(.put, "/users/{id}/approval", [user.description])
  }

  /// `PUT /users/{id}/avatar`
  public static func setAvatar(of user: UserReference, to file: ID<File>) -> Request {
    Request(.put, "/users/{id}/avatar", [user.description], body: .object { json in json.field("file", file) })
  }
}

extension Request where Response == Void {
  /// `DELETE /users/{id}/approval`
  public static func rejectUser(_ user: UserReference) -> Request {
    Request(.delete, "/users/{id}/approval", [user.description])
  }

  /// `DELETE /users/{id}/avatar`
  public static func deleteAvatar(of user: UserReference) -> Request {
    Request(.delete, "/users/{id}/avatar", [user.description])
  }

  /// `PUT /users/{id}/follow`
  public static func followUser(_ user: UserReference) -> Request {
    Request(.put, "/users/{id}/follow", [user.description])
  }

  /// `DELETE /users/{id}/follow`
  public static func unfollowUser(_ user: UserReference) -> Request {
    Request(.delete, "/users/{id}/follow", [user.description])
  }

  /// `PUT /users/{id}/mute`
  public static func muteUser(_ user: UserReference) -> Request {
    Request(.put, "/users/{id}/mute", [user.description])
  }

  /// `DELETE /users/{id}/mute`
  public static func unmuteUser(_ user: UserReference) -> Request {
    Request(.delete, "/users/{id}/mute", [user.description])
  }

  /// `PUT /users/{id}/block`
  public static func blockUser(_ user: UserReference) -> Request {
    Request(.put, "/users/{id}/block", [user.description])
  }

  /// `DELETE /users/{id}/block`
  public static func unblockUser(_ user: UserReference) -> Request {
    Request(.delete, "/users/{id}/block", [user.description])
  }
}

extension Request where Response == RawResponse {
  /// `GET /users/{id}/avatar`
  public static func getAvatar(of user: UserReference) -> Request {
    Request(.get, "/users/{id}/avatar", [user.description])
  }
}

extension Request where Response == Page<Resource<Discovered>> {
  /// `POST /users/discover`
  ///
  /// - Parameter addresses: e-mail addresses, and telephone numbers with country code.
  public static func discoverUsers(_ addresses: [String]) -> Request {
    Request(.post, "/users/discover", body: .object { json in json.field("addresses", addresses) })
  }
}

extension Request where Response == Resource<SignInResult> {
  /// `POST /users`
  ///
  /// - Parameters:
  ///   - name: nil if the invite activates an imported user.
  ///   - cookie: for browsers: sets the token as a cookie and omits it from the response.
  public static func signUp(
    _ name: String?, password: String, displayName: String? = nil, invite: String? = nil, acceptsRules: Bool? = nil,
    device: String? = nil, cookie: Bool? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("name", name)
      json.field("password", password)
      json.optional("display_name", displayName)
      json.optional("invite", invite)
      json.optional("accept_rules", acceptsRules)
      json.optional("device", device)
      json.optional("cookie", cookie)
      json.optional("client_id", clientID)
    }
    // Without a name the server cannot recognize a repeated request.
    return Request(.post, "/users", body: body).withClientID(name == nil ? nil : clientID)
  }
}

extension Request where Response == Resource<Conversation> {
  /// `GET /users/{id}/feed`
  public static func getFeed(of user: UserReference) -> Request {
    Request(.get, "/users/{id}/feed", [user.description])
  }
}

extension Request where Response == Resource<DataExport> {
  /// `POST /me/export`
  public static func createExport() -> Request { Request(.post, "/me/export") }

  /// `GET /me/export`
  public static func getExport() -> Request { Request(.get, "/me/export") }
}

extension Request where Response == Void {
  /// `DELETE /me/export`
  public static func deleteExport() -> Request { Request(.delete, "/me/export") }
}

extension Request where Response == RawResponse {
  /// `GET /me/export/content`: a zip archive. Ask for ranges of a large one.
  public static func getExportContent() -> Request { Request(.get, "/me/export/content") }
}
