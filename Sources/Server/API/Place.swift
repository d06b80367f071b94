import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  /// A client's configuration, meant to be asked once a day.
  @Sendable static func showServer(_ call: Call) async throws -> Response {
    let facts = try call.view.facts()
    let release = call.api.release
    let tag =
      "\(facts.settings.revision)-\(facts.isSetUp ? 1 : 0)-\(facts.epoch)-\(release.version)-\(release.web)"
      + (call.api.previews == nil ? "-alone" : "")
    return Response.object { json in
      json.field("name", facts.settings.name)
      json.field("hue", facts.settings.hue)
      json.field("version", release.version)
      json.field("web_version", release.web)
      json.field("min_client", release.leastClient)
      json.field("epoch", facts.epoch)
      json.field("policy", facts.settings.registration.rawValue)
      json.field("set_up", facts.isSetUp)
      json.field("link_previews", facts.settings.linkPreviews && call.api.previews != nil)
      json.object("limits") { call.community.bounds.write(to: &$0) }
    }.tagged(tag)
  }

  @Sendable static func showSettings(_ call: Call) async throws -> Response {
    let settings = try call.view.settings()
    return .one(settings).tagged("\(settings.revision)")
  }

  @Sendable static func changeSettings(_ call: Call) async throws -> Response {
    let change = try await call.body { body in try PlaceSettingsChange(&body) }
    return try await call.changed {
      try await call.community.change(change, by: call.caller)
    } now: {
      try call.view.settings()
    }
  }
}

extension Bounds {
  /// What a client should know before it sends.
  fileprivate func write(to json: inout JSONWriter) {
    json.field("message_scalars", messageScalars)
    json.field("annotation_bytes", annotationBytes)
    json.field("name_bytes", AccountName.mostBytes)
    json.field("display_name_scalars", displayNameScalars)
    json.field("bio_scalars", bioScalars)
    json.field("title_scalars", titleScalars)
    json.field("description_scalars", descriptionScalars)
    json.field("password_least_scalars", leastPasswordScalars)
    json.field("password_bytes", passwordBytes)
    json.field("preferences_bytes", preferencesBytes)
    json.field("file_bytes", fileBytes)
    json.field("file_name_scalars", fileNameScalars)
    json.field("preview_bytes", previewBytes)
    json.field("preview_side", previewSide)
    json.field("picture_bytes", pictureBytes)
    json.field("page", Query.largestPage)
  }
}

extension Call {
  /// The thing after a PATCH; where the PATCH came too late, a conflict that says what is there now.
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
