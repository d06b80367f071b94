import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func register(_ call: Call) async throws -> Response {
    let (registration, wantsCookie) = try await call.body { body in
      (try Registration(&body), try body.optional("cookie") ?? false)
    }
    let registered = try await call.community.register(registration)
    let status: Status = registered.isNew ? .created : .ok
    guard let session = registered.session else {
      return .object(status) { json in json.field("user", registered.person) }
    }
    return call.signedIn(session, wantsCookie: wantsCookie, status)
  }

  @Sendable static func listPeople(_ call: Call) async throws -> Response {
    let (prefix, state, limit, next): (String?, AccountState?, Int, String?) = try call.query { query in
      (try query.text("query"), try query.word("state"), try query.limit(), try query.text("next"))
    }
    guard let state else {
      let name = prefix.map { $0.hasPrefix("@") ? String($0.dropFirst()) : $0 } ?? ""
      let found = try call.view.people(namePrefix: name, after: next, limit: limit, for: call.caller)
      return .page(found, limit: limit) { $0.account.name }
    }
    guard prefix == nil else { throw Refusal.invalid("query", .mismatch) }
    let last = try next.map { text throws(Refusal) in
      guard let id = ID<Account>(text) else { throw .invalid("next", .invalid) }
      return id
    }
    let found = try call.view.people(in: state, after: last, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.account.id.description }
  }

  @Sendable static func showPerson(_ call: Call) async throws -> Response {
    let person = try call.view.person(try call.reference(), for: call.caller)
    return .one(person).tagged(person.tag)
  }

  @Sendable static func changePerson(_ call: Call) async throws -> Response {
    let reference = try call.reference()
    let change = try await call.body { body in try AccountChange(&body) }
    return try await call.changed {
      try await call.community.change(reference, change, by: call.caller)
    } now: {
      try call.view.person(reference, for: call.caller)
    }
  }

  @Sendable static func leave(_ call: Call) async throws -> Response {
    let leaving = try await call.body { body in try Leaving(&body) }
    let departed = try await call.community.leave(try call.reference(), leaving, by: call.caller)
    return .object { json in
      departed.person.writeMembers(to: &json)
      json.field("job_id", departed.job)
    }
  }

  @Sendable static func approve(_ call: Call) async throws -> Response {
    .one(try await call.community.approve(try call.reference(), by: call.caller))
  }

  @Sendable static func refuse(_ call: Call) async throws -> Response {
    try await call.community.refuse(try call.person(), by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func resetPassword(_ call: Call) async throws -> Response {
    let link = try await call.community.resetLink(for: try call.reference(), by: call.caller)
    return .object(.created) { json in
      json.field("code", link.code)
      json.field("url", "\(call.context.origin)/reset/\(link.code)")
      json.field("expires_at", Timestamp(link.expiresAt))
    }
  }

  @Sendable static func showLink(_ call: Call) async throws -> Response {
    .one(try call.view.purpose(ofLink: try call.code()))
  }

  @Sendable static func useLink(_ call: Call) async throws -> Response {
    let (use, wantsCookie) = try await call.body { body in (try LinkUse(&body), try body.optional("cookie") ?? false) }
    let opened = try await call.community.use(link: try call.code(), use)
    return call.signedIn(opened, wantsCookie: wantsCookie)
  }
}

extension Person {
  /// Another for what another viewer sees, and when somebody whom the bio mentions has another name.
  fileprivate var tag: String {
    let sight = own != nil ? "own" : standing != nil ? "known" : "seen"
    let mentions = UInt(bitPattern: account.bioEntities?.bytes.hashValue ?? 0)
    return "\(account.revision)-\(sight)-\(standing?.lastSeenAt ?? 0)-\(mentions)"
  }
}
