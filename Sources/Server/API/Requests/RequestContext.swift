package import Community
import ParleyJSON
import ParleyModel
import ParleyWire
package import Web

/// One request with its authenticated caller, the community and this loop's view of it.
package struct RequestContext {
  package let request: Request
  package let server: Context
  package let api: API
  /// The loop's read view of the community.
  package let view: CommunityView
  package let caller: Caller
  /// Records whether the endpoint has read the query; nil without a query.
  private let queryUse: QueryUse?

  private final class QueryUse { var isRead = false }

  package var community: Community { api.community }

  /// - Parameters:
  ///   - given: the caller by a credential of another wire format; nil authenticates the request.
  ///   - known: set as soon as the caller is known, also if the request is refused after that.
  init(
    _ request: Request, _ server: Context, _ api: API, for endpoint: Endpoint, as given: Caller? = nil,
    _ known: inout Caller
  ) throws {
    self.request = request
    self.server = server
    self.api = api
    view = api.view(on: server)
    queryUse = request.head.target.query == nil ? nil : QueryUse()
    if endpoint.access == .controlSocket {
      caller = try view.operatorCaller()
      known = caller
      return
    }
    api.hints.examine(request.fields, server)
    var caller = try given ?? Self.caller(of: request, server, api, view, for: endpoint)
    // The profile is no access to content: with it, an app reads what visitors read.
    if caller.scope < .read, endpoint.access == .anyone, !endpoint.worksWithProfileToken {
      caller = .visitor(network: server.networkHash)
    }
    self.caller = caller
    known = caller
    if caller.lacksSecondFactor, !endpoint.worksWithoutSecondFactor { throw Refusal.secondFactorMissing }
    if caller.forums != nil, !endpoint.worksWithForumToken { throw Refusal.forbidden }
    if case .user(let scope) = endpoint.access { _ = try caller.requireUser(scope) }
    if !endpoint.method.isSafe, community.store.isDiskFull, !endpoint.worksOnFullDisk { throw Refusal.diskFull }
    if let kind = endpoint.rateLimit { try api.limiter.count(kind, by: caller, at: server.client, now: server.uptime) }
  }

  private static func caller(
    of request: Request, _ server: Context, _ api: API, _ view: CommunityView, for endpoint: Endpoint
  ) throws -> Caller {
    switch endpoint.access {
    case .webhook: try Authentication.webhook(of: request, server, api, view).caller
    case .invocation: try Authentication.invocation(of: request, server, api, view).replier
    case .client: .visitor(network: server.networkHash)
    case .anyone, .user, .controlSocket: try Authentication.caller(of: request, server, api, view)
    }
  }

  /// The state of the endpoint's rate limit; that of changes for an endpoint without a limit of its own.
  static func quota(
    of endpoint: Endpoint, _ caller: Caller, _ server: Context, _ api: API
  ) -> RateLimiter.Quota? {
    api.limiter.quota(endpoint.rateLimit ?? .writing, of: caller, at: server.client, now: server.uptime)
  }

  /// Gives back the token that the endpoint's rate limit has taken.
  package func refund(_ kind: RateLimitKind) {
    api.limiter.refund(kind, by: caller, at: server.client, now: server.uptime)
  }

  /// An id in the path.
  func id<Thing>(_ name: String = "id") throws(Refusal) -> ID<Thing> {
    guard let id = request.parameters[name].flatMap({ ID<Thing>($0) }) else { throw .notFound }
    return id
  }

  /// The user in the path: an id, `@name` or `me`. The caller, if the path has no user.
  func userID(_ name: String = "id") throws(Refusal) -> ID<User> {
    try view.userID(try reference(name), for: caller)
  }

  /// The id of the user in a query parameter.
  func userID(_ reference: UserReference?, _ field: String) throws(Refusal) -> ID<User>? {
    guard let reference else { return nil }
    do throws(Refusal) {
      return try view.userID(reference, for: caller)
    } catch .notFound {
      throw .invalid(field, .unknown)
    }
  }

  /// The user in the path, unresolved, for rules that resolve it in their transaction.
  func reference(_ name: String = "id") throws(Refusal) -> UserReference {
    guard let text = request.parameters[name] else { return .me }
    guard let reference = UserReference(parsing: text) else { throw .notFound }
    return reference
  }

  /// The secret code in the path.
  func code() throws(Refusal) -> String {
    guard let code = request.parameters["code"] else { throw .notFound }
    return code
  }

  /// Whether the request has a body, for endpoints with an optional one.
  var hasBody: Bool { request.head.framing != .none && request.head.framing != .length(0) }

  /// Reads the members of the JSON body by name, and refuses it with all its faults, the limits of texts included.
  func body<Value: CheckedInput>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    try await body(checking: { $0 }, read)
  }

  /// Reads the members of the JSON body by name. Members that were not read are refused as `unknown_field`.
  func body<Value>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    let unchecked: ((Value) -> any CheckedInput)? = nil
    return try await body(checking: unchecked, read)
  }

  /// Reads an optional body. A missing one reads as `{}`.
  func optionalBody<Value: CheckedInput>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    if hasBody { return try await body(read) }
    var empty = try JSONValue(parsing: Array("{}".utf8)).object()
    return try read(&empty)
  }

  func optionalBody<Value>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    if hasBody { return try await body(read) }
    var empty = try JSONValue(parsing: Array("{}".utf8)).object()
    return try read(&empty)
  }

  /// - Parameter input: the part of the value with limits of its own.
  func body<Value>(
    checking input: ((Value) -> any CheckedInput)?, _ read: (inout JSONObject) throws -> Value
  ) async throws -> Value {
    // A form of another origin cannot send this type, and a sender of another one has made a mistake.
    guard !hasBody || request.fields["content-type"].flatMap({ MediaType($0) })?.isJSON == true else {
      throw Problem.unsupportedMediaType
    }
    let bytes = try await request.body.collect()
    do {
      let root = try JSONValue(parsing: bytes, nullIsAbsent: false)
      try root.requireFiniteNumbers()
      var object = try root.object()
      let value = try read(&object)
      try object.finish()
      return value
    } catch JSONError.refused(let errors) {
      throw try Problem.allFaults(of: bytes, errors, community.bounds, checking: input, read)
    }
  }

  /// Refuses a query that the endpoint has not read.
  func requireNoStrayQuery() throws(Refusal) {
    guard let queryUse, !queryUse.isRead else { return }
    try newQuery().finish()
  }

  /// Reads the query's parameters by name. Parameters that were not read are refused as `unknown_field`.
  func query<Value>(_ read: (inout Query) throws -> Value) throws -> Value {
    queryUse?.isRead = true
    var query = try newQuery()
    let value: Value
    do {
      value = try read(&query)
    } catch Refusal.invalid(let faults) {
      // A rule may have missed a wrong parameter, which counts as absent.
      let fields = Set(query.faults.map(\.field))
      throw Refusal.invalid(query.faults + faults.filter { !fields.contains($0.field) })
    }
    try query.finish()
    return value
  }

  private func newQuery() throws(Refusal) -> Query {
    try Query(request.head.target.query, path: request.head.target.path)
  }

  /// The list of this request, for the positions in its answer.
  func list() throws(Refusal) -> ListName { try newQuery().list }
}
