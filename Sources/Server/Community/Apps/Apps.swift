// Apps: other programs that users may let act for them. Owners create them; without an enabled one the provider is off.

public import OAuth
public import ParleyModel
import Storage

/// The result of creating an app or its new secret.
public struct CreatedApp: Sendable {
  public let app: App
  /// Nil for a public client, and for a repeated request: the secret is returned only once.
  public let secret: String?
  /// Whether this request created the app.
  public let isNew: Bool
}

extension Community {
  /// Creates an app. Users may connect it from now on.
  public func createApp(_ draft: AppDraft, by caller: Caller) async throws(Refusal) -> CreatedApp {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    let fingerprint = try draft.fingerprint()
    let secret = draft.isConfidential ? try Secret.makeToken(.app) : nil
    return try await store.write { [bounds] tx throws(Refusal) in
      if let clientID = draft.clientID, let earlier = try tx.remembered(.app, by: actor, clientID) {
        _ = try tx.revalidateStaff(caller)
        guard earlier.fingerprint == fingerprint else { throw .clientIDReused }
        guard let app = try tx.app(ID(earlier.subject)) else { throw .gone }
        return CreatedApp(app: app, secret: nil, isNew: false)
      }
      try tx.requireAppOwner(caller)
      guard try tx.appCount(selfRegistered: false) < bounds.apps else { throw .tooMany(limit: bounds.apps) }
      let id = try tx.add(NewStoredApp(draft, digest: secret?.digest, creator: actor))
      if let clientID = draft.clientID {
        try tx.remember(.app, by: actor, clientID, subject: id.number, fingerprint: fingerprint)
      }
      try tx.audit(.appCreated, by: actor, subject: id.number, reason: draft.name)
      return CreatedApp(app: try tx.knownApp(id), secret: secret?.text, isNew: true)
    }
  }

  /// Changes an app. All staff may disable it, which ends what it may do, like a lower scope.
  public func updateApp(_ id: ID<App>, _ change: AppChange, by caller: Caller) async throws(Refusal) -> App {
    let actor = try caller.requireUser(.admin)
    let change = try change.checked(bounds)
    let (before, after) = try await store.write { tx throws(Refusal) in
      _ = try tx.revalidateStaff(caller)
      let before = try tx.knownApp(id)
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = before.changed(by: change)
      guard after != before else { return (before, after) }
      var disabled = before
      disabled.isEnabled = false
      if after != disabled { try tx.requireAppOwner(caller) }
      var stored = after
      if after.endsGrants(of: before) { stored.isEnabled = false }
      try tx.set(stored)
      var content = after
      content.isEnabled = before.isEnabled
      if content != before { try tx.audit(.appChanged, by: actor, subject: id.number, reason: after.name) }
      if after.isEnabled != before.isEnabled {
        try tx.audit(
          after.isEnabled ? .appEnabled : .appDisabled, by: actor, subject: id.number, reason: after.name)
      }
      return (before, after)
    }
    if after != before, after.endsGrants(of: before) {
      try await endGrants(of: id)
      if after.isEnabled { try await enableApp(id, ifRevision: before.revision + 1) }
    }
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in try tx.knownApp(id) }
  }

  private func enableApp(_ id: ID<App>, ifRevision revision: Int) async throws(Refusal) {
    try await store.write { tx throws(Refusal) in
      var app = try tx.knownApp(id)
      guard app.revision == revision else { return }
      app.isEnabled = true
      try tx.set(app)
    }
  }

  /// Ends the grants of a disabled app, in as many writes as it takes. Its tokens are not valid meanwhile.
  private func endGrants(of id: ID<App>) async throws(Refusal) {
    while try await store.write({ tx throws(Refusal) in try tx.endGrants(of: id, limit: Self.grantsPerWrite) }) {}
  }

  private static let grantsPerWrite = 100

  /// Replaces the secret of an app. The earlier one is invalid at once; tokens stay.
  public func rotateAppSecret(_ id: ID<App>, by caller: Caller) async throws(Refusal) -> CreatedApp {
    let actor = try caller.requireUser(.admin)
    let secret = try Secret.makeToken(.app)
    return try await store.write { tx throws(Refusal) in
      _ = try tx.revalidateStaff(caller)
      let app = try tx.knownApp(id)
      guard app.isConfidential else { throw .conflict }
      try tx.requireAppOwner(caller)
      try tx.setSecret(secret.digest, of: id)
      try tx.audit(.appRenewed, by: actor, subject: id.number, reason: app.name)
      return CreatedApp(app: try tx.knownApp(id), secret: secret.text, isNew: false)
    }
  }

  /// Deletes an app with all that it may do. Idempotent.
  public func deleteApp(_ id: ID<App>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      _ = try tx.revalidateStaff(caller)
      guard var app = try tx.app(id) else { return }
      try tx.requireAppOwner(caller)
      app.isEnabled = false
      try tx.set(app)
    }
    try await endGrants(of: id)
    try await store.write { tx throws(Refusal) in
      guard let app = try tx.app(id) else { return }
      _ = try tx.endGrants(of: id, limit: Self.grantsPerWrite)
      try tx.delete(id)
      try tx.audit(.appDeleted, by: actor, subject: id.number, reason: app.name)
    }
  }

  /// Adds an app that registers itself (RFC 7591), which is not verified.
  public func registerApp(_ draft: AppDraft) async throws(Refusal) -> CreatedApp {
    let draft = try draft.checked(bounds)
    let secret = draft.isConfidential ? try Secret.makeToken(.app) : nil
    return try await store.write { [bounds] tx throws(Refusal) in
      guard try tx.settings().appRegistration else { throw .notFound }
      guard try tx.appCount(selfRegistered: true) < bounds.registeredApps else {
        throw .tooMany(limit: bounds.registeredApps)
      }
      let id = try tx.add(NewStoredApp(draft, digest: secret?.digest, creator: nil))
      return CreatedApp(app: try tx.knownApp(id), secret: secret?.text, isNew: true)
    }
  }

  /// Ends all that the caller has allowed an app. Idempotent.
  public func disconnectApp(_ id: ID<App>, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      _ = try tx.revalidate(caller)
      try tx.endGrants(of: id, by: user)
    }
  }
}

extension CommunityView {
  /// All apps, for staff.
  public func listApps(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<App> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.apps(slice) }
    }
  }

  public func getApp(_ id: ID<App>, for caller: Caller) throws(Refusal) -> App {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try tx.knownApp(id)
    }
  }

  /// The apps that the caller has allowed.
  public func listConnectedApps(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<ConnectedApp> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.connectedApps(of: user, slice) }
    }
  }
}

extension ReadTransaction {
  fileprivate func knownApp(_ id: ID<App>) throws(Refusal) -> App {
    guard let app = try app(id) else { throw .notFound }
    return app
  }

  /// Throws unless the caller is an owner with a new proof. The token of an app changes no apps.
  func requireAppOwner(_ caller: Caller) throws(Refusal) {
    let caller = try revalidate(caller)
    _ = try caller.requireUser(.admin)
    guard caller.role == .owner, caller.limits.areNone else { throw .forbidden }
    if let session = caller.session, try isOfApp(session) { throw .forbidden }
    try requireProof(of: caller)
  }
}

extension App {
  fileprivate func changed(by change: AppChange) -> App {
    var after = self
    after.name = change.name ?? name
    switch change.website {
    case .unchanged: break
    case .cleared: after.website = nil
    case .set(let website): after.website = website
    }
    after.redirectURIs = change.redirectURIs ?? redirectURIs
    after.scope = change.scope ?? scope
    after.isVerified = change.isVerified ?? isVerified
    after.isEnabled = change.isEnabled ?? isEnabled
    return after
  }

  /// The redirect URIs as values. A stored one that is no longer valid is left out.
  public var redirects: [RedirectURI] { redirectURIs.compactMap { RedirectURI($0) } }
}

extension AppDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> AppDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.name = try AppFields.name(name) }
    check { () throws(Refusal) in if let website { checked.website = try AppFields.website(website, bounds) } }
    check { () throws(Refusal) in try AppFields.check(redirectURIs) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension AppChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> AppChange {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in if let name { checked.name = try AppFields.name(name) } }
    check { () throws(Refusal) in
      if case .set(let text) = website { checked.website = .set(try AppFields.website(text, bounds)) }
    }
    check { () throws(Refusal) in if let redirectURIs { try AppFields.check(redirectURIs) } }
    try check.finish()
    return checked
  }
}

private enum AppFields {
  static func name(_ text: String) throws(Refusal) -> String {
    try Texts.line(text, "name", scalars: App.maxNameScalars)
  }

  static func website(_ text: String, _ bounds: Bounds) throws(Refusal) -> String {
    try Texts.webAddress(text, "website", bounds)
  }

  static func check(_ uris: [String]) throws(Refusal) {
    guard uris.count >= App.redirectURIs.lowerBound else { throw .invalid("redirect_uris", .missing) }
    guard uris.count <= App.redirectURIs.upperBound else {
      throw .invalid("redirect_uris", .tooMany(limit: App.redirectURIs.upperBound))
    }
    var faults: [FieldFault] = []
    for (index, uri) in uris.enumerated() {
      let field = "redirect_uris[\(index)]"
      if uri.utf8.count > RedirectURI.maxBytes {
        faults.append(FieldFault(field: field, code: .tooLong(limit: RedirectURI.maxBytes)))
      } else if RedirectURI(uri) == nil {
        faults.append(FieldFault(field: field, code: .invalid))
      } else if uris[..<index].contains(uri) {
        faults.append(FieldFault(field: field, code: .taken))
      }
    }
    guard faults.isEmpty else { throw .invalid(faults) }
  }
}

extension App {
  /// Whether the change from `before` ends what the app may do. One that is enabled again begins anew, too: a crash may have
  /// left grants of an earlier time.
  fileprivate func endsGrants(of before: App) -> Bool {
    !isEnabled || scope < before.scope || !before.isEnabled
  }
}
