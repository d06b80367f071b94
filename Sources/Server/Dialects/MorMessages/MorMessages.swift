// The interface of MorMessages: its forums are the forums of the site, its messages those of their rooms.

import API
import Community
import ParleyModel
import ParleyWire
import Web

struct MorMessages: Sendable {
  static let rest = "/mormessages/api/rest"
  static let websocket = "/mormessages/api/websocket"

  let api: API

  init(_ api: API) { self.api = api }

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

  func add(to routes: inout Router.Builder) {
    guard let sessions = BasicSessions(named: Dialect.mormessages.system) else { return }
    func on(
      _ method: Method, _ path: String, as operation: String, counts rateLimit: RateLimitKind? = nil,
      _ access: Access = .user, _ answer: @escaping Answer
    ) {
      let operation = NativeOperation(operation, counts: rateLimit)
      precondition(operation != nil, "\(path) stands for no operation")
      guard let operation else { return }
      routes.on(method, path, handler(of: operation, access, sessions, answer))
    }
    let (login, forum, subscription) = ("\(Self.rest)/auth", "\(Self.rest)/forum", "\(Self.rest)/subscription")
    on(.get, "\(login)/login", as: "GET /server", .open) { _ in throw MorMessagesFailure.login }
    on(.post, "\(login)/login", as: "POST /sessions", .body) { try await $0.signIn() }
    on(.get, "\(login)/whoami", as: "GET /server", .open) { try $0.whoami() }
    on(.delete, "\(login)/logout", as: "GET /server", .open) { try await $0.signOut(sessions) }
    on(.get, forum, as: "GET /forums") { try $0.listForums() }
    on(.put, forum, as: "POST /forums") { try await $0.createForum() }
    on(.get, "\(forum)/{uuid}", as: "GET /forums/{id}") { try $0.getForum() }
    on(.post, "\(forum)/{uuid}", as: "PATCH /forums/{id}") { try await $0.updateForum() }
    on(.delete, "\(forum)/{uuid}", as: "DELETE /forums/{id}") { try await $0.deleteForum() }
    on(.get, "\(forum)/{uuid}/message", as: "GET /conversations/{id}/messages") { try await $0.listMessages() }
    on(.put, "\(forum)/{uuid}/message", as: "POST /conversations/{id}/messages") { try await $0.postMessage() }
    on(.get, subscription, as: "GET /realtime") { try $0.listSubscriptions() }
    on(.put, subscription, as: "GET /realtime", counts: .writing) { try await $0.subscribe() }
    on(.get, "\(subscription)/{id}", as: "GET /realtime") { try $0.getSubscription() }
    on(.post, "\(subscription)/{id}", as: "GET /realtime", counts: .writing) { try await $0.renewSubscription() }
    on(.delete, "\(subscription)/{id}", as: "GET /realtime", counts: .writing) { try await $0.deleteSubscription() }
    on(.get, "\(Self.websocket)/{id}", as: "GET /realtime") { try $0.openSocket() }
  }

  private func handler(
    of operation: NativeOperation, _ access: Access, _ sessions: BasicSessions, _ answer: @escaping Answer
  ) -> Handler {
    { request, server throws(Problem) in
      do {
        if access == .user { try MorMessagesCall.requireEncryption(server) }
        let basic = BasicCredentials(request.fields)
        if basic != nil { try MorMessagesCall.refuseForeignOrigin(request, server) }
        let caller: Caller? =
          switch access {
          case .body: .visitor(network: server.networkHash)
          case .open, .user:
            if let basic { try await sessions.caller(with: basic, request, server, api) } else { nil }
          }
        let call = MorMessagesCall(
          context: try RequestContext(request, server, api, for: operation, as: caller), basic: basic)
        if access == .user { _ = try call.context.caller.requireUser() }
        var response = try await answer(call)
        call.context.addQuota(of: operation, to: &response)
        return response
      } catch {
        return MorMessagesFailure(error).response(on: server, api)
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
