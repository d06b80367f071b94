import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addSite(to table: inout Table) throws {
    try table.on(.get, "/token", as: "GET /users/{id}") { try await $0.getToken() }
    try table.on(.get, "/sys/config", as: "GET /server") { $0.getConfig() }
    try table.on(.get, "/sys/stats", as: "GET /statistics") { try await $0.getStatistics() }
    try table.on(.post, "/text/process", as: "GET /users") { try await $0.processText() }
  }
}

extension PnutCall {
  /// The scopes of pnut for a credential of the API.
  static func scopes(of caller: Caller) -> [String] {
    let reading = ["basic", "stream", "messages"]
    switch caller.scope {
    case .profile: return ["basic"]
    case .read: return reading
    case .write, .admin:
      return reading + ["write_post", "follow", "public_messages", "update_profile", "files", "polls", "presence"]
    }
  }

  /// The credential of the request.
  func getToken() async throws -> Response {
    let me = try caller.requireUser()
    let site = try view.getSettings()
    let storage = try caller.readsWholeSite ? view.fileUse(of: caller) : (used: 0, max: 0)
    return .envelope(
      PnutToken(
        user: try users([me])[me], scopes: Self.scopes(of: caller), app: site.name, url: origin,
        available: max(0, storage.max - storage.used), total: storage.max))
  }

  func getConfig() -> Response { .envelope(PnutConfig(bounds: community.bounds)) }

  func getStatistics() async throws -> Response {
    .envelope(PnutStatistics(statistics: try await community.getStatistics(for: caller)))
  }

  /// The entities of a text that is not posted.
  func processText() async throws -> Response {
    guard let text = try await body().text("text") else { throw Refusal.invalid("text", .missing) }
    var json = JSONWriter()
    json.value(try view.entities(of: text, for: caller))
    return .envelope(ProcessedText(text: try ShownText(text, JSONRaw(trusted: json.bytes))))
  }
}

private struct PnutToken: JSONWritable {
  let user: PnutUser?
  let scopes: [String]
  let app: String
  let url: String
  let available: Int
  let total: Int

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.object("app") { json in
        json.field("id", "parley")
        json.field("name", app)
        json.field("url", url)
      }
      json.field("scopes", scopes)
      if let user { json.field("user", user) }
      json.object("storage") { json in
        json.field("available", available)
        json.field("total", total)
      }
    }
  }
}

/// The limits of the site and of the dialect.
private struct PnutConfig: JSONWritable {
  let bounds: Bounds

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.object("post") { json in
        json.field("max_length", PnutCall.maxPost)
        json.field("seconds_between_duplicates", 0)
        json.field("seconds_for_revision", 0)
      }
      json.object("message") { json in json.field("max_length", PnutCall.maxMessage) }
      json.object("raw") { json in json.field("max_length", bounds.annotationBytes) }
      json.object("user") { json in
        json.field("max_length", bounds.bioScalars)
        json.field("name_max_length", bounds.displayNameScalars)
        json.field("username_max_length", UserName.maxBytes)
        json.field("presence_max_length", bounds.statusScalars)
      }
      json.object("file") { json in json.field("max_size", bounds.fileBytes) }
    }
  }
}

private struct PnutStatistics: JSONWritable {
  let statistics: Statistics

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.object("users") { json in
        json.field("created", statistics.users)
        json.field("active", statistics.activeUsers)
      }
      json.object("messages") { json in json.field("created", statistics.messages) }
    }
  }
}

private struct ProcessedText: JSONWritable {
  let text: ShownText

  func write(to json: inout JSONWriter) {
    json.object { json in
      text.writeText(to: &json, "Text")
      text.writeEntities(to: &json)
    }
  }
}
