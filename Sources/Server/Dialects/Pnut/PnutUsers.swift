import Community
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addUsers(to table: inout Table) throws {
    try table.on(.get, "/users", as: "GET /users") { try await $0.getUsers() }
    try table.on(.get, "/users/search", as: "GET /users") { try await $0.searchUsers() }
    try table.on(.get, "/users/{id}", as: "GET /users/{id}") { try await $0.getUser() }
    try table.on(.put, "/users/{id}", as: "PATCH /users/{id}") { try await $0.updateUser(replaces: true) }
    try table.on(.patch, "/users/{id}", as: "PATCH /users/{id}") { try await $0.updateUser(replaces: false) }
    try table.on(.get, "/users/{id}/avatar", as: "GET /users/{id}/avatar") { try $0.getAvatar() }
    try table.on(.post, "/users/{id}/avatar", as: "PUT /users/{id}/avatar", isUpload: true) {
      try await $0.setAvatar()
    }
    try table.on(.delete, "/users/{id}/avatar", as: "DELETE /users/{id}/avatar") { try await $0.deleteAvatar() }
    try table.on(.get, "/users/{id}/cover", as: "GET /users/{id}") { try $0.getCover() }
    try table.on(.post, "/users/{id}/cover", as: "PUT /users/{id}/avatar", isUpload: true) { try await $0.setCover() }
    try table.on(.delete, "/users/{id}/cover", as: "DELETE /users/{id}/avatar") { try await $0.deleteCover() }
    for relation in Relation.allCases {
      let path = "/users/{id}/\(relation.rawValue)"
      try table.on(.put, path, as: "PUT \(path)") { try await $0.setRelation(relation) }
      try table.on(.delete, path, as: "DELETE \(path)") { try await $0.removeRelation(relation) }
    }
    try table.on(.get, "/users/{id}/following", as: "GET /users/{id}/following") { try await $0.listFollowing() }
    try table.on(.get, "/users/{id}/followers", as: "GET /users/{id}/followers") { try await $0.listFollowers() }
    try table.on(.get, "/users/{id}/muted", as: "GET /me/muted") { try await $0.listOwn(.mute) }
    try table.on(.get, "/users/{id}/blocked", as: "GET /me/blocked") { try await $0.listOwn(.block) }
    try table.on(.get, "/presence", as: "GET /users/{id}/following") { try $0.listPresence() }
    try table.on(.get, "/users/{id}/presence", as: "GET /users/{id}") { try $0.getPresence() }
    try table.on(.put, "/users/{id}/presence", as: "PATCH /users/{id}") { try await $0.setPresence() }
  }
}

extension PnutCall {
  /// `ids`, in their order. Unknown ones are left out.
  func getUsers() async throws -> Response {
    let ids: [ID<User>] = try query.ids("ids")
    let found = try users(ids)
    return .envelope(ids.compactMap { found[$0] })
  }

  func getUser() async throws -> Response { try await one(try view.getUser(try user(), for: caller)) }

  /// The first users whose name begins with `q`. The order is that of names, so the list has one page.
  func searchUsers() async throws -> Response {
    guard let words = query.text("q") else { throw Refusal.invalid("q", .missing) }
    let limit = abs(IDRange(query).count)
    guard limit > 0 else { return .envelope([PnutUser](), page: ListMeta()) }
    let found = try view.listUsers(foundBy: words, PageRequest(limit: limit), for: caller).items
    return .envelope(try described(found), page: ListMeta())
  }

  /// Changes the name and the description of the caller.
  ///
  /// - Parameter replaces: whether absent members are cleared. Clients send back whole users, with the text as it was shown.
  func updateUser(replaces: Bool) async throws -> Response {
    try requireSelf()
    let body = try await body()
    let before = try view.getUser(.me, for: caller)
    var change = UserChange()
    let name = try body.text("name")
    if name != nil || replaces, name != before.summary.displayName ?? before.summary.name {
      change.fields.set(\.displayName, to: name.flatMap { $0.isEmpty ? nil : $0 })
    }
    let text = try body.object("content")?.text("text")
    if text != nil || replaces {
      let shown = try ShownText(before.summary.bio, before.summary.bioEntities).text
      if text != shown { change.fields.set(\.bio, to: text ?? "") }
    }
    // A refused name or text changes nothing.
    _ = try change.checked(community.bounds)
    let (locale, timezone) = (try body.text("locale"), try body.text("timezone"))
    if replaces || locale != nil || timezone != nil {
      try await community.updateDialectProfile(by: caller) { profile in
        if replaces || locale != nil { profile.locale = locale.flatMap { $0.isEmpty ? nil : $0 } }
        if replaces || timezone != nil { profile.timezone = timezone.flatMap { $0.isEmpty ? nil : $0 } }
      }
    }
    return try await one(try await community.updateUser(.me, change, by: caller))
  }

  // MARK: Pictures

  func getAvatar() throws -> Response {
    let user = try view.userID(try user(), for: caller)
    return .redirect(to: "\(origin)/api/v1/users/\(user)/avatar")
  }

  func setAvatar() async throws -> Response {
    try requireSelf()
    let (file, _) = try await receiveFile(in: "avatar", isPublic: true)
    return try await one(try await community.setAvatar(file.file.id, of: .me, by: caller))
  }

  /// The caller's, or as staff another user's, as in the API.
  func deleteAvatar() async throws -> Response {
    let reference = try user()
    try await community.deleteAvatar(of: reference, by: caller)
    return try await one(try view.getUser(reference, for: caller))
  }

  func getCover() throws -> Response {
    let user = try view.getUser(try user(), for: caller).summary.id
    let cover = try view.dialectProfiles(of: [user])[user]?.cover
    return .redirect(to: origin + (cover?.address ?? PnutUser.usualCover))
  }

  func setCover() async throws -> Response {
    try requireSelf()
    let cover = try await receiveFile(in: "cover", isPublic: true).made.file.id
    try await community.updateDialectProfile(by: caller) { $0.cover = cover }
    return try await one(try view.getUser(.me, for: caller))
  }

  func deleteCover() async throws -> Response {
    let reference = try user()
    try await community.deleteDialectCover(of: reference, by: caller)
    return try await one(try view.getUser(reference, for: caller))
  }

  // MARK: Relations

  func setRelation(_ relation: Relation) async throws -> Response {
    let reference = try user()
    try await community.setRelation(relation, to: reference, by: caller)
    return try await one(try view.getUser(reference, for: caller))
  }

  func removeRelation(_ relation: Relation) async throws -> Response {
    let reference = try user()
    try await community.removeRelation(relation, to: reference, by: caller)
    return try await one(try view.getUser(reference, for: caller))
  }

  func listFollowing() async throws -> Response {
    let reference = try user()
    return try await list { page in try view.listFollowing(reference, page, for: caller) }
  }

  func listFollowers() async throws -> Response {
    let reference = try user()
    return try await list { page in try view.listFollowers(reference, page, for: caller) }
  }

  /// The users that the caller mutes or blocks. Those of others are private.
  func listOwn(_ relation: Relation) async throws -> Response {
    try requireSelf()
    return try await list { page in try view.listRelatedUsers(relation, page, for: caller) }
  }

  /// A page of a list by id.
  private func list(_ read: @escaping (PageRequest) throws -> ListPage<User>) async throws -> Response {
    try await page(
      IDRange.Source<User>(isAscending: true, id: { $0.summary.id.number }, read: { page in try read(page) }),
      showing: { users in try described(users) })
  }

  /// Users of a list, which have no entities.
  private func described(_ listed: [User]) throws -> [PnutUser] {
    let found = try users(listed.map(\.summary.id))
    return listed.compactMap { found[$0.summary.id] }
  }
}
