public import ParleyJSON
public import ParleyModel

// Sessions, tokens, links and invites.

extension Request where Response == Resource<LinkPurpose> {
  /// `GET /links/{code}`
  public static func getLink(_ code: String) -> Request {
    Request(.get, "/links/{code}", [code])
  }
}

extension Request where Response == Resource<InviteWithCode> {
  /// `POST /invites`
  ///
  /// - Parameters:
  ///   - user: the imported user that the invite activates.
  ///   - role: not `owner` or `bot`.
  ///   - clientID: the idempotency key. A repeated request returns no code, so the request is not retried
  ///     automatically.
  public static func createInvite(
    for user: UserReference? = nil, role: Role? = nil, to forum: ID<Forum>? = nil, maxUses: Int? = nil,
    expiresAt: Timestamp? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("user_id", user)
      json.optional("role", role)
      json.optional("forum_id", forum)
      json.optional("max_uses", maxUses)
      json.optional("expires_at", expiresAt)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/invites", body: body)
  }
}

extension Request where Response == Resource<Invite> {
  /// `GET /invites/{id}`
  public static func getInvite(_ id: ID<Invite>) -> Request {
    Request(.get, "/invites/{id}", [id.description])
  }
}

extension Request where Response == Page<Resource<Invite>> {
  /// `GET /invites`
  public static func listInvites(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/invites", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Void {
  /// `DELETE /sessions/{id}`
  ///
  /// - Parameter foreign: the caller has not opened it: all devices but that of the caller are forgotten, so that the
  ///   next sign-in there makes a notification.
  public static func revokeSession(_ session: String, foreign: Bool? = nil) -> Request {
    Request(.delete, "/sessions/{id}", [session], query: [QueryItem("foreign", foreign)])
  }

  /// `DELETE /sessions`
  ///
  /// Ends the caller's sessions except the current one.
  public static func revokeOtherSessions() -> Request {
    Request(.delete, "/sessions")
  }

  /// `DELETE /me/tokens/{id}`
  public static func revokeToken(_ token: String) -> Request {
    Request(.delete, "/me/tokens/{id}", [token])
  }

  /// `PUT /me/password`
  ///
  /// - Parameter keepTokens: spares the tokens of programs. Other sessions end in any case.
  public static func changePassword(from old: String, to password: String, keepTokens: Bool? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("old_password", old)
      json.field("password", password)
      json.optional("keep_tokens", keepTokens)
    }
    return Request(.put, "/me/password", body: body)
  }

  /// `POST /sessions/current/proof`
  ///
  /// For ten minutes the session may use the operations that are refused as `step_up_required`.
  /// - Parameter code: of a user with a second factor.
  public static func proveSession(password: String, code: String? = nil) -> Request {
    proof { json in
      json.field("password", password)
      json.optional("code", code)
    }
  }

  /// `POST /sessions/current/proof`
  ///
  /// - Parameter credential: the answer to `createPasskeyProofOptions`.
  public static func proveSession(with credential: PasskeyAssertion) -> Request {
    proof { json in json.field("credential", credential) }
  }

  private static func proof(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/sessions/current/proof", body: .object(members))
  }

  /// `DELETE /me/passkeys/{id}`
  public static func deletePasskey(_ passkey: ID<Passkey>) -> Request {
    Request(.delete, "/me/passkeys/{id}", [passkey.description])
  }

  /// `DELETE /me/identities/{id}`
  public static func unlinkIdentity(_ account: ID<Identity>) -> Request {
    Request(.delete, "/me/identities/{id}", [account.description])
  }

  /// `DELETE /me/second-factor`
  ///
  /// - Parameter keepSessions: spares other sessions and the tokens of programs.
  public static func disableSecondFactor(keepSessions: Bool? = nil) -> Request {
    let body = RequestBody.object { json in json.optional("keep_sessions", keepSessions) }
    return Request(.delete, "/me/second-factor", body: body)
  }

  /// `DELETE /me/email`
  ///
  /// - Parameter keepSessions: spares other sessions and the tokens of programs.
  public static func deleteEmail(keepSessions: Bool? = nil) -> Request {
    let body = RequestBody.object { json in json.optional("keep_sessions", keepSessions) }
    return Request(.delete, "/me/email", body: body)
  }

  /// `POST /password-resets`
  ///
  /// - Parameter login: a user name or an email address.
  public static func requestPasswordReset(of login: String) -> Request {
    Request(.post, "/password-resets", body: .object { json in json.field("login", login) })
  }

  /// `POST /users/{id}/reset-second-factor`
  public static func resetSecondFactor(of user: UserReference) -> Request {
    Request(.post, "/users/{id}/reset-second-factor", [user.description])
  }

  /// `DELETE /invites/{id}`
  ///
  /// - Parameter bans: also bans the users who signed up with the invite.
  public static func revokeInvite(
    _ id: ID<Invite>, descendants: Bool? = nil, bans: Bool? = nil, reason: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("ban", bans)
      json.optional("reason", reason)
    }
    return Request(
      .delete, "/invites/{id}", [id.description], query: [QueryItem("descendants", descendants)], body: body)
  }
}

extension Request where Response == Resource<SignInResult> {
  /// `POST /sessions`
  ///
  /// - Parameter cookie: for browsers: sets the token as a cookie and omits it from the response.
  public static func signIn(
    _ name: String, password: String, device: String? = nil, cookie: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.field("password", password)
      json.optional("device", device)
      json.optional("cookie", cookie)
    }
    return Request(.post, "/sessions", body: body)
  }

  /// `POST /sessions/second-factor`
  ///
  /// - Parameters:
  ///   - challenge: the text of a `SignInChallenge`.
  ///   - code: of the authenticator app, or a recovery code.
  ///   - cookie: for browsers: sets the token as a cookie and omits it from the response.
  public static func confirmSignIn(
    _ challenge: String, code: String, device: String? = nil, cookie: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("challenge", challenge)
      json.field("code", code)
      json.optional("device", device)
      json.optional("cookie", cookie)
    }
    return Request(.post, "/sessions/second-factor", body: body)
  }

  /// `POST /sessions/passkey`
  ///
  /// - Parameters:
  ///   - credential: the answer to `createPasskeySignInOptions`.
  ///   - cookie: for browsers: sets the token as a cookie and omits it from the response.
  public static func signInWithPasskey(
    _ credential: PasskeyAssertion, device: String? = nil, cookie: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("credential", credential)
      json.optional("device", device)
      json.optional("cookie", cookie)
    }
    return Request(.post, "/sessions/passkey", body: body)
  }

  /// `POST /links/{code}`
  ///
  /// - Parameters:
  ///   - name: the owner's user name, for a setup link.
  ///   - cookie: for browsers: sets the token as a cookie and omits it from the response.
  public static func useLink(
    _ code: String, password: String, name: String? = nil, displayName: String? = nil, device: String? = nil,
    cookie: Bool? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("password", password)
      json.optional("name", name)
      json.optional("display_name", displayName)
      json.optional("device", device)
      json.optional("cookie", cookie)
    }
    return Request(.post, "/links/{code}", [code], body: body)
  }
}

extension Request where Response == Resource<NewToken> {
  /// `POST /me/tokens`
  ///
  /// - Parameters:
  ///   - limits: the forums that the token reaches, and its rate.
  ///   - password: confirms scope `admin`, unless the caller signed in within ten minutes.
  ///   - clientID: the idempotency key. A repeated request returns no secret, so the request is not retried
  ///     automatically.
  public static func createToken(
    name: String, scope: Scope, limits: TokenLimits = TokenLimits(), expiresAt: Timestamp? = nil,
    password: String? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.field("scope", scope.rawValue)
      limits.write(to: &json)
      json.optional("expires_at", expiresAt)
      json.optional("password", password)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/me/tokens", body: body)
  }
}

extension TokenLimits {
  /// Writes the limits that there are.
  func write(to json: inout JSONWriter) {
    json.optional("forums", forums?.sorted())
    json.optional("rate_limit", rate)
  }
}

extension Request where Response == Page<Resource<Credential>> {
  /// `GET /sessions`
  public static func listSessions(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/sessions", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }

  /// `GET /me/tokens`
  public static func listTokens(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/tokens", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<SignIn>> {
  /// `GET /me/sign-ins`
  public static func listSignIns(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/sign-ins",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Resource<Email> {
  /// `GET /me/email`
  public static func getEmail() -> Request {
    Request(.get, "/me/email")
  }

  /// `PUT /me/email`
  ///
  /// The address counts once the link that is sent there was opened.
  public static func setEmail(_ address: String) -> Request {
    Request(.put, "/me/email", body: .object { json in json.field("address", address) })
  }

  /// `POST /email-confirmations`
  ///
  /// - Parameter keepSessions: spares other sessions and the tokens of programs when the address changes.
  public static func confirmEmail(code: String, keepSessions: Bool? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("code", code)
      json.optional("keep_sessions", keepSessions)
    }
    return Request(.post, "/email-confirmations", body: body)
  }
}

extension Request where Response == Resource<SecondFactor> {
  /// `GET /me/second-factor`
  public static func getSecondFactor() -> Request {
    Request(.get, "/me/second-factor")
  }
}

extension Request where Response == Resource<SecondFactorSetup> {
  /// `POST /me/second-factor`
  public static func setUpSecondFactor() -> Request {
    Request(.post, "/me/second-factor")
  }
}

extension Request where Response == Resource<RecoveryCodes> {
  /// `PUT /me/second-factor`
  ///
  /// - Parameters:
  ///   - code: of the app that `setUpSecondFactor` has set up.
  ///   - keepSessions: spares other sessions and the tokens of programs.
  public static func enableSecondFactor(code: String, keepSessions: Bool? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("code", code)
      json.optional("keep_sessions", keepSessions)
    }
    return Request(.put, "/me/second-factor", body: body)
  }

  /// `POST /me/second-factor/recovery-codes`
  public static func createRecoveryCodes() -> Request {
    Request(.post, "/me/second-factor/recovery-codes")
  }
}

extension Request where Response == Page<Resource<Passkey>> {
  /// `GET /me/passkeys`
  public static func listPasskeys(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/passkeys",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<Identity>> {
  /// `GET /users/{id}/identities`
  public static func listUserIdentities(
    of user: UserReference, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/users/{id}/identities", [user.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }

  /// `GET /me/identities`
  public static func listIdentities(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/identities",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Resource<IssuerPage> {
  /// `POST /me/identities`
  ///
  /// - Parameters:
  ///   - issuer: the id of one of `ServerInfo.issuers`.
  ///   - back: the path of the site to which the browser returns.
  public static func linkIdentity(at issuer: String, back: String? = nil) -> Request {
    Request(
      .post, "/me/identities",
      body: .object { json in
        json.field("issuer", issuer)
        if let back { json.field("back", back) }
      })
  }
}

extension Request where Response == Resource<Passkey> {
  /// `POST /me/passkeys`
  public static func createPasskey(_ draft: PasskeyDraft) -> Request {
    Request(.post, "/me/passkeys", body: .value(draft))
  }

  /// `PATCH /me/passkeys/{id}`
  public static func updatePasskey(_ passkey: ID<Passkey>, name: String) -> Request {
    Request(
      .patch, "/me/passkeys/{id}", [passkey.description], body: .object { json in json.field("name", name) })
  }
}

extension Request where Response == Resource<PasskeyCreationOptions> {
  /// `POST /me/passkeys/options`
  public static func createPasskeyOptions() -> Request {
    Request(.post, "/me/passkeys/options")
  }
}

extension Request where Response == Resource<PasskeyRequestOptions> {
  /// `POST /sessions/passkey/options`
  public static func createPasskeySignInOptions() -> Request {
    Request(.post, "/sessions/passkey/options")
  }

  /// `POST /sessions/current/proof/options`
  public static func createPasskeyProofOptions() -> Request {
    Request(.post, "/sessions/current/proof/options")
  }
}
