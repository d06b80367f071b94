import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  /// Returns the client configuration. Clients request it about once a day.
  @Sendable static func getServer(_ context: RequestContext) async throws -> Response {
    let facts = try context.view.getServer()
    let release = context.api.release
    let key = context.api.push.map { "-\($0.publicKey.prefix(12))" } ?? ""
    // The operator changes these with a restart of the server.
    let issuers = context.api.issuers?.issuers ?? []
    let ways = (context.community.allowsPasswordSignIn ? [] : ["no-password"]) + issuers.map(\.id)
    let tag =
      "\(facts.settings.revision)-\(facts.isSetUp ? 1 : 0)-\(facts.epoch)-\(release.version)-\(release.web)\(key)"
      + (context.api.mail == nil ? "" : "-mail") + (context.api.previews == nil ? "-alone" : "")
      + (context.caller.user == nil ? "" : "-user") + ways.map { "-\($0)" }.joined()
    return Response.object { json in
      json.field("name", facts.settings.name)
      json.field("hue", facts.settings.hue)
      json.field("version", release.version)
      json.field("web_version", release.web)
      json.field("min_client", release.minClient)
      json.field("epoch", facts.epoch)
      json.field("start", facts.start)
      json.field("policy", facts.settings.registration.rawValue)
      json.field("set_up", facts.isSetUp)
      json.field("signed_in", context.caller.user != nil)
      json.field("contact_url", facts.settings.contactURL)
      json.field("privacy_url", facts.settings.privacyURL)
      json.field("link_previews", facts.settings.linkPreviews && context.api.previews != nil)
      json.field("mail", context.api.mail != nil)
      json.field("password_sign_in", context.community.allowsPasswordSignIn)
      json.array("issuers") { json in
        for issuer in issuers {
          json.object { json in
            json.field("id", issuer.id)
            json.field("name", issuer.name)
            json.field("url", issuer.url)
          }
        }
      }
      json.field("site_key", facts.key)
      json.field("vapid_key", context.api.push?.publicKey)
      json.object("limits") { context.community.bounds.write(to: &$0) }
    }.tagged(tag, since: context.community.start)
  }

  @Sendable static func getSettings(_ context: RequestContext) async throws -> Response {
    let settings = try context.view.getSettings()
    return .one(settings).tagged("\(settings.revision)", since: context.community.start)
  }

  @Sendable static func updateSettings(_ context: RequestContext) async throws -> Response {
    let change = try await context.body { body in try SiteSettingsChange(&body) }
    return try await context.changed {
      try await context.community.updateSettings(change, by: context.caller)
    } now: {
      try context.view.getSettings()
    }
  }
}

extension Bounds {
  /// Writes the limits that clients check before they send.
  fileprivate func write(to json: inout JSONWriter) {
    json.field("message_scalars", messageScalars)
    json.field("annotation_bytes", annotationBytes)
    json.field("name_bytes", UserName.maxBytes)
    json.field("display_name_scalars", displayNameScalars)
    json.field("emoji_bytes", emojiBytes)
    json.field("emoji_side", emojiSide)
    json.field("bio_scalars", bioScalars)
    json.field("status_scalars", statusScalars)
    json.field("title_scalars", titleScalars)
    json.field("description_scalars", descriptionScalars)
    json.field("password_min_scalars", minPasswordScalars)
    json.field("password_bytes", passwordBytes)
    json.field("preferences_bytes", preferencesBytes)
    json.field("file_bytes", fileBytes)
    json.field("file_name_scalars", fileNameScalars)
    json.field("preview_bytes", previewBytes)
    json.field("preview_side", previewSide)
    json.field("picture_bytes", pictureBytes)
    json.field("page", Query.maxPageSize)
  }
}

extension RequestContext {
  /// Returns the object after a PATCH. A stale `if_revision` returns a conflict with the stored object in `current`.
  func changed<Thing: JSONWritable>(
    _ change: () async throws -> Thing, now current: () throws -> Thing
  ) async throws -> Response {
    do {
      return .one(try await change())
    } catch Refusal.conflict {
      var problem = Problem(Refusal.conflict)
      var json = JSONWriter()
      json.value(try current())
      problem.current = json.bytes
      throw problem
    }
  }
}
