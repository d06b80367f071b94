import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// One request, with who asks and what they ask of.
struct RequestContext {
  let request: Request
  let server: Context
  let api: API
  /// The community as this loop reads it.
  let view: CommunityView
  let caller: Caller
  /// Whether the endpoint has looked at the query, where there is one.
  private let queryUse: QueryUse?

  private final class QueryUse { var isRead = false }

  var community: Community { api.community }

  init(_ request: Request, _ server: Context, _ api: API, for endpoint: Endpoint) throws {
    self.request = request
    self.server = server
    self.api = api
    view = server.locals.object(CommunityView.self) { api.community.view() }
    queryUse = request.head.target.query == nil ? nil : QueryUse()
    if endpoint.access == .host {
      caller = try view.operatorCaller()
      return
    }
    caller = try Authentication.caller(of: request, server, view)
    if case .user(let scope) = endpoint.access { _ = try caller.requireUser(scope) }
    if let work = endpoint.work { try api.limiter.count(work, by: caller, at: server.client, now: server.now) }
  }

  /// What stands in the path.
  func id<Thing>(_ name: String = "id") throws(Refusal) -> ID<Thing> {
    guard let id = request.parameters[name].flatMap({ ID<Thing>($0) }) else { throw .notFound }
    return id
  }

  /// Whom the path means: an id, `@name` or `me`, which is who asks where the path names nobody.
  func userID(_ name: String = "id") throws(Refusal) -> ID<User> {
    try view.userID(try reference(name), for: caller)
  }

  /// The same, to be looked up by a rule.
  func reference(_ name: String = "id") throws(Refusal) -> UserReference {
    guard let text = request.parameters[name] else { return .me }
    guard let reference = UserReference(parsing: text) else { throw .notFound }
    return reference
  }

  /// A secret in the path.
  func code() throws(Refusal) -> String {
    guard let code = request.parameters["code"] else { throw .notFound }
    return code
  }

  /// Where a body may be left out: whether it was not.
  var hasBody: Bool { request.head.framing != .none && request.head.framing != .length(0) }

  /// Reads the body by its fields' names; what was not read is refused.
  func body<Value>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    if let type = request.fields["content-type"], !Self.isJSON(type) { throw Problem.unsupportedMediaType }
    let bytes = try await request.body.collect()
    var object = try JSONValue(parsing: bytes).object()
    let value = try read(&object)
    try object.finish()
    return value
  }

  /// What curl says of a body when it is told nothing is let pass too.
  private static func isJSON(_ type: String) -> Bool {
    guard let media = MediaType(type) else { return false }
    return media.isJSON || media.essence == "application/x-www-form-urlencoded"
  }

  /// Refuses a query at which nobody has looked: what a GET changes nothing with may be asked afterwards.
  func requireNoStrayQuery() throws(Refusal) {
    guard let queryUse, !queryUse.isRead else { return }
    try Query(request.head.target.query).finish()
  }

  /// Reads the query by its names; what was not read is refused.
  func query<Value>(_ read: (inout Query) throws -> Value) throws -> Value {
    queryUse?.isRead = true
    var query = try Query(request.head.target.query)
    let value = try read(&query)
    try query.finish()
    return value
  }
}
