// The interface of pnut, version 1: its posts are those of the feeds, its channels the conversations and the rooms of forums.

import API
import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

struct Pnut: Sendable {
  static let prefix = "/v1"

  private let api: API
  private let endpoints: [Endpoint]

  typealias Answer = @Sendable (PnutCall) async throws -> Response

  /// One path, with the operation that it stands for.
  struct Endpoint: Sendable {
    let method: Method
    let path: String
    let operation: NativeOperation
    /// Whether the body has a file.
    let isUpload: Bool
    let answer: Answer
  }

  /// - Throws: if the API lacks an operation of the tables.
  init(_ api: API) throws {
    self.api = api
    var table = Table()
    try Self.addUsers(to: &table)
    try Self.addPosts(to: &table)
    try Self.addChannels(to: &table)
    try Self.addMessages(to: &table)
    try Self.addFiles(to: &table)
    try Self.addMarkers(to: &table)
    try Self.addSite(to: &table)
    endpoints = table.endpoints
  }

  /// The endpoints of a group of paths.
  struct Table {
    private(set) var endpoints: [Endpoint] = []

    /// - Parameters:
    ///   - operation: the operation of the API with the same checks.
    ///   - isOpen: whether visitors may call it, although the operation requires a user.
    mutating func on(
      _ method: Method, _ path: String, as operation: String, isOpen: Bool = false, isUpload: Bool = false,
      _ answer: @escaping Answer
    ) throws {
      endpoints.append(
        Endpoint(
          method: method, path: Pnut.prefix + path,
          operation: try NativeOperation(operation, by: method, isOpen: isOpen),
          isUpload: isUpload, answer: answer))
    }
  }

  private static let methods: [Method] = [.get, .post, .put, .patch, .delete]

  func add(to routes: inout Router.Builder) {
    for endpoint in endpoints {
      guard endpoint.isUpload else {
        routes.on(endpoint.method, endpoint.path, handler(of: endpoint))
        continue
      }
      let community = api.community
      routes.on(
        endpoint.method, endpoint.path, bodyLimit: { community.bounds.fileBody }, handler(of: endpoint))
    }
    for (path, known) in Dictionary(grouping: endpoints, by: \.path).mapValues({ $0.map(\.method) }) {
      let failure = EnvelopeFailure.methodNotAllowed(known)
      for method in Self.methods where !known.contains(method) { routes.on(method, path, handler(throwing: failure)) }
    }
    for method in Self.methods {
      routes.on(method, "\(Self.prefix)/{path...}", handler(throwing: EnvelopeFailure.notFound))
    }
  }

  private func handler(of endpoint: Endpoint) -> Handler {
    { request, server throws(Problem) in
      var caller = Caller.visitor(network: server.networkHash)
      var response: Response
      do {
        let (query, body) = (try LenientQuery(request.head.target.query), ReceivedBody(request))
        let given = try await TokenCredential.caller(of: request, query, body, server, api)
        let context = try RequestContext(request, server, api, for: endpoint.operation, as: given, &caller)
        response = try await endpoint.answer(PnutCall(context: context, query: query, received: body))
      } catch {
        response = EnvelopeFailure(error).response(on: server, api)
      }
      if caller.user != nil {
        response.fields.add("X-OAuth-Scopes", PnutCall.scopes(of: caller).joined(separator: ","))
      }
      endpoint.operation.addQuota(of: caller, server, api, to: &response)
      response.addQuotaCopies()
      return response
    }
  }

  private func handler(throwing failure: EnvelopeFailure) -> Handler {
    { _, server throws(Problem) in failure.response(on: server, api) }
  }
}

/// One request with its caller.
struct PnutCall {
  let context: RequestContext
  let query: LenientQuery
  let received: ReceivedBody

  var view: CommunityView { context.view }
  var community: Community { context.community }
  var caller: Caller { context.caller }
  var origin: String { context.server.origin }

  func body() async throws -> LenientBody { try await received.members() }

  /// A variable part of the path.
  func parameter(_ name: String) -> String { context.request.parameters[name] ?? "" }

  /// The id in the path.
  func id<Thing>(_ name: String = "id") throws(Refusal) -> ID<Thing> {
    guard let id = ID<Thing>(parameter(name)) else { throw .notFound }
    return id
  }

  /// The user in the path: an id, `@name` or `me`.
  func user() throws(Refusal) -> UserReference {
    guard let reference = UserReference(parsing: parameter("id")) else { throw .notFound }
    return reference
  }

  /// Throws unless the user in the path is the caller.
  func requireSelf() throws(Refusal) {
    guard try view.userID(try user(), for: caller) == caller.requireUser() else { throw .forbidden }
  }

  /// The answer with a page of a list.
  ///
  /// - Parameter list: the list whose marker `meta` has.
  func page<Item, Shown: JSONWritable>(
    _ source: IDRange.Source<Item>, marking list: MarkedList? = nil,
    showing show: ([Item]) async throws -> [Shown]
  ) async throws -> Response {
    let (items, meta) = try await IDRange(query).read(source)
    let position = try list.map { try marker(of: $0) }
    return .envelope(try await show(items), page: meta) { json in
      if let position { json.field("marker", position) }
    }
  }

  /// A value of the API, read from the JSON of its request.
  static func native<Value>(
    _ write: (inout JSONWriter) -> Void, _ read: (inout JSONObject) throws(JSONError) -> Value
  ) throws(JSONError) -> Value {
    var json = JSONWriter()
    json.object(write)
    var object = try JSONValue(parsing: json.bytes, nullIsAbsent: false).object()
    return try read(&object)
  }

  /// `2026-11-20T15:16:41Z`.
  static func time(_ milliseconds: Int64) -> String {
    String(Timestamp.format(Int(milliseconds)).prefix(19)) + "Z"
  }
}
