public import JSON
public import Model

// Ways in: sessions, tokens, links and invites.

extension Request where Answer == Resource<LinkPurpose> {
  /// `GET /links/{code}`
  public static func link(_ code: String) -> Request {
    Request(.get, "/links/{code}", [code])
  }
}

extension Request where Answer == Resource<Invite> {
  /// `POST /invites`
  public static func makeInvite(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/invites", body: .object(members))
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
  public static func changePassword(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.put, "/me/password", body: .object(members))
  }

  /// `DELETE /invites/{code}`
  public static func closeInvite(
    _ code: String, descendants: Bool? = nil, _ members: (inout JSONWriter) -> Void = { _ in }
  ) -> Request {
    Request(.delete, "/invites/{code}", [code], query: [QueryItem("descendants", descendants)], body: .object(members))
  }
}

extension Request where Answer == Resource<SignedIn> {
  /// `POST /sessions`
  public static func signIn(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/sessions", body: .object(members))
  }

  /// `POST /links/{code}`
  public static func useLink(_ code: String, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/links/{code}", [code], body: .object(members))
  }
}

extension Request where Answer == Resource<MadeToken> {
  /// `POST /me/tokens`
  public static func makeToken(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/me/tokens", body: .object(members))
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
