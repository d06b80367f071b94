import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func signUp(_ context: RequestContext) async throws -> Response {
    let (registration, wantsCookie) = try await context.body(checking: { $0.0 }) { body in
      (try Registration(&body), try body.optional("cookie") ?? false)
    }
    try context.requireOwnOrigin(ifSettingCookie: wantsCookie)
    let registered = try await context.community.signUp(registration, from: context.origin)
    let status: Status = registered.isNew ? .created : .ok
    guard let session = registered.session else {
      return .object(status) { json in json.field("user", registered.user) }
    }
    return try context.signedIn(session, wantsCookie: wantsCookie, status)
  }

  @Sendable static func listUsers(_ context: RequestContext) async throws -> Response {
    let (ids, text, state, page): ([ID<User>]?, String?, UserState?, PageRequest) = try context.query { query in
      (
        try query.ids(), try query.text("query", scalars: UserName.maxBytes), try query.word("state"),
        try query.page()
      )
    }
    if let ids {
      guard text == nil, state == nil else { throw Refusal.invalid("ids", .mismatch) }
      return .list(try context.view.listUsers(ids, for: context.caller))
    }
    guard let state else {
      return try .page(try context.view.listUsers(foundBy: text ?? "", page, for: context.caller), context)
    }
    guard text == nil else { throw Refusal.invalid("query", .mismatch) }
    return try .page(try context.view.listUsers(in: state, page, for: context.caller), context)
  }

  @Sendable static func getUser(_ context: RequestContext) async throws -> Response {
    let user = try context.view.getUser(try context.reference(), for: context.caller)
    return .one(user).tagged(user.tag, since: context.community.start)
  }

  @Sendable static func updateUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let change = try await context.body { body in try UserChange(&body) }
    return try await context.changed {
      try await context.community.updateUser(reference, change, by: context.caller)
    } now: {
      try context.view.getUser(reference, for: context.caller)
    }
  }

  @Sendable static func deleteUser(_ context: RequestContext) async throws -> Response {
    let leaving = try await context.body { body in try Leaving(&body) }
    let reference = try context.reference()
    let guesses = leaving.password == nil ? [] : try context.passwordGuess()
    let departed = try await context.counting(guesses, isWrong: { $0.isWrongPassword() }) { () async throws(Refusal) in
      try await context.community.deleteUser(reference, leaving, by: context.caller)
    }
    return .object { json in
      departed.user.writeMembers(to: &json)
      json.field("job_id", departed.job)
    }
  }

  @Sendable static func approveUser(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.approveUser(try context.reference(), by: context.caller))
  }

  @Sendable static func rejectUser(_ context: RequestContext) async throws -> Response {
    try await context.community.rejectUser(try context.userID(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func createPasswordReset(_ context: RequestContext) async throws -> Response {
    let link = try await context.community.createPasswordReset(for: try context.reference(), by: context.caller)
    return .object(.created) { json in link.writeMembers(to: &json, at: context.server.origin) }
  }

  @Sendable static func getLink(_ context: RequestContext) async throws -> Response {
    .one(try context.view.getLink(try context.code()))
  }

  @Sendable static func useLink(_ context: RequestContext) async throws -> Response {
    let (use, wantsCookie) = try await context.body(checking: { $0.0 }) { body in
      (try LinkUse(&body), try body.optional("cookie") ?? false)
    }
    try context.requireOwnOrigin(ifSettingCookie: wantsCookie)
    let opened = try await context.community.useLink(try context.code(), use, from: context.origin)
    return try context.signedIn(opened, wantsCookie: wantsCookie)
  }
}

extension User {
  /// The entity tag. Includes the viewer's access and the names of mentioned users in the bio, since both change the
  /// response.
  fileprivate var tag: String {
    let access = own != nil ? "own" : standing != nil ? "known" : "seen"
    let mentions = UInt(bitPattern: summary.bioEntities?.bytes.hashValue ?? 0)
    return "\(summary.revision)-\(access)-\(standing?.lastSeenAt ?? 0)-\(mentions)"
  }
}

extension PasswordReset {
  /// - Parameter origin: of the site.
  func writeMembers(to json: inout JSONWriter, at origin: String) {
    json.field("code", code)
    json.field("url", "\(origin)/reset/\(code)")
    json.field("expires_at", Timestamp(expiresAt))
  }
}
