// The interface of MorMessages: its forums are the forums of the site, its messages those of their rooms.

import API
import Community
import ParleyModel
import ParleyWire
import Web

struct MorMessages: Sendable {
  static let rest = "/mormessages/api/rest"
  static let websocket = "/mormessages/api/websocket"

  private let api: API
  private let sessions: BasicSessions
  private let endpoints: [Endpoint]

  typealias Answer = @Sendable (MorMessagesCall) async throws -> Response

  /// The credential that a path requires.
  enum Access: Sendable {
    /// None.
    case open
    /// The name and the password in the body. Other credentials are ignored.
    case body
    /// A user over TLS, or on the same machine.
    case user
  }

  /// One path, with the operation that it stands for.
  private struct Endpoint: Sendable {
    let method: Method
    let path: String
    let operation: NativeOperation
    let access: Access
    let answer: Answer

    init(
      _ method: Method, _ path: String, as operation: String, _ access: Access, _ answer: @escaping Answer
    ) throws {
      self.method = method
      self.path = path
      self.operation = try NativeOperation(operation, by: method, isOpen: access == .open)
      self.access = access
      self.answer = answer
    }
  }

  /// - Throws: if the system has no random bytes, or the API lacks an operation of the table.
  init(_ api: API) throws {
    let sessions = try BasicSessions(named: Dialect.mormessages.system)
    let (login, forum, subscription) = ("\(Self.rest)/auth", "\(Self.rest)/forum", "\(Self.rest)/subscription")
    let messages = "\(forum)/{uuid}/message"
    var endpoints: [Endpoint] = []
    func on(
      _ method: Method, _ path: String, as operation: String, _ access: Access = .user, _ answer: @escaping Answer
    ) throws {
      endpoints.append(try Endpoint(method, path, as: operation, access, answer))
    }
    try on(.get, "\(login)/login", as: "GET /server", .open) { _ in throw MorMessagesFailure.login }
    try on(.post, "\(login)/login", as: "POST /sessions", .body) { try await $0.signIn(sessions) }
    try on(.get, "\(login)/whoami", as: "GET /server", .open) { try $0.whoami() }
    try on(.delete, "\(login)/logout", as: "DELETE /sessions/{id}", .open) { try await $0.signOut(sessions) }
    try on(.get, forum, as: "GET /forums") { try await $0.listForums() }
    try on(.put, forum, as: "POST /forums") { try await $0.createForum() }
    try on(.get, "\(forum)/{uuid}", as: "GET /forums/{id}") { try $0.getForum() }
    try on(.post, "\(forum)/{uuid}", as: "PATCH /forums/{id}") { try await $0.updateForum() }
    try on(.delete, "\(forum)/{uuid}", as: "DELETE /forums/{id}") { try await $0.deleteForum() }
    try on(.get, messages, as: "GET /conversations/{id}/messages") { try await $0.listMessages() }
    try on(.put, messages, as: "POST /conversations/{id}/messages") { try await $0.postMessage() }
    try on(.get, subscription, as: "GET /realtime") { try $0.listSubscriptions() }
    try on(.put, subscription, as: "GET /realtime") { try await $0.subscribe() }
    try on(.get, "\(subscription)/{id}", as: "GET /realtime") { try $0.getSubscription() }
    try on(.post, "\(subscription)/{id}", as: "GET /realtime") { try await $0.renewSubscription() }
    try on(.delete, "\(subscription)/{id}", as: "GET /realtime") { try await $0.deleteSubscription() }
    try on(.get, "\(Self.websocket)/{id}", as: "GET /realtime") { try $0.openSocket() }
    self.api = api
    self.sessions = sessions
    self.endpoints = endpoints
  }

  func add(to routes: inout Router.Builder) {
    for endpoint in endpoints { routes.on(endpoint.method, endpoint.path, handler(of: endpoint)) }
  }

  private func handler(of endpoint: Endpoint) -> Handler {
    { request, server throws(Problem) in
      var caller = Caller.visitor(network: server.networkHash)
      do {
        if endpoint.access == .user { try MorMessagesCall.requireEncryption(server) }
        let basic = BasicCredentials(request.fields)
        if basic != nil { try MorMessagesCall.refuseForeignOrigin(request, server) }
        let given: Caller? =
          switch endpoint.access {
          case .body: .visitor(network: server.networkHash)
          case .open, .user:
            if let basic { try await sessions.caller(with: basic, request, server, api) } else { nil }
          }
        let context = try RequestContext(request, server, api, for: endpoint.operation, as: given, &caller)
        if endpoint.access == .user { _ = try context.caller.requireUser() }
        var response = try await endpoint.answer(MorMessagesCall(context: context, basic: basic))
        endpoint.operation.addQuota(of: caller, server, api, to: &response)
        return response
      } catch {
        var response = MorMessagesFailure(error).response(on: server, api)
        endpoint.operation.addQuota(of: caller, server, api, to: &response)
        return response
      }
    }
  }
}

/// One request with its caller.
struct MorMessagesCall {
  let context: RequestContext
  /// The credentials of the request, if it has such.
  let basic: BasicCredentials?

  var view: CommunityView { context.view }
  var caller: Caller { context.caller }

  /// A variable part of the path.
  func parameter(_ name: String) -> String { context.request.parameters[name] ?? "" }

  /// Passwords travel with each request, so only TLS carries them, or the machine itself.
  static func requireEncryption(_ server: Context) throws {
    guard server.isFromTLS || server.isFromThisMachine else { throw MorMessagesFailure.unencrypted }
  }

  /// A browser adds Basic credentials to requests of pages of any origin.
  static func refuseForeignOrigin(_ request: Request, _ server: Context) throws {
    guard let origin = request.fields["origin"], !isOwn(origin, server) else { return }
    throw MorMessagesFailure.foreignOrigin
  }

  /// Whether the field names this site. The client for iOS writes the whole address of its WebSocket.
  static func isOwn(_ origin: String, _ server: Context) -> Bool {
    guard let address = WebAddress(origin) else { return false }
    return server.isOwnOrigin(address.with(scheme: address.scheme.isSecure ? .https : .http).origin)
  }
}
