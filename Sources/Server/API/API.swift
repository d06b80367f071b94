public import Community
import ParleyModel
import ParleyWire
public import Previews
import PubSub
public import Web

/// The HTTP API: the endpoints of `Routes.swift`, served by the community.
public struct API: Sendable {
  public let community: Community
  let release: Release
  let limiter: RateLimiter
  /// Nil if link previews are disabled.
  let previews: LinkPreviews?
  /// Nil if the server sends no requests to others.
  let outgoing: OutgoingWebhooks?
  /// The same for slash commands.
  let commands: OutgoingCommands?
  /// Nil if push messages are disabled.
  let push: PushService?
  /// Nil if the server sends no mail.
  let mail: MailService?
  /// Nil without issuers.
  let issuers: IssuerService?
  let hints: OperatorHints
  let log: @Sendable (String) -> Void

  /// The prefix of every path.
  public static let base = "/api/v1"

  /// The server's version, as `GET /server` returns it.
  public struct Release: Sendable {
    public var version: String
    /// The version of the web app. An older page reloads itself.
    public var web: String
    /// The oldest supported client version. Older clients show an update notice.
    public var minClient: String

    public init(version: String = "0", web: String = "0", minClient: String = "0") {
      self.version = version
      self.web = web
      self.minClient = minClient
    }
  }

  public init(
    _ community: Community, release: Release = Release(), rates: RateLimits = RateLimits(),
    previews: LinkPreviews? = nil, outgoing: OutgoingWebhooks? = nil, commands: OutgoingCommands? = nil,
    push: PushService? = nil, mail: MailService? = nil, issuers: IssuerService? = nil,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.community = community
    self.release = release
    limiter = RateLimiter(rates)
    self.previews = previews
    self.outgoing = outgoing
    self.commands = commands
    self.push = push
    self.mail = mail
    self.issuers = issuers
    hints = OperatorHints(log: log)
    self.log = log
  }

  /// The publisher for the store of this API's community.
  public static func publisher() -> Publisher {
    let frames = FrameMaker()
    return Publisher(Hub { frames.frame($0, isCompressed: $1) })
  }

  /// Throws the problem that a write would get now; for `/readyz`.
  public func checkReadiness() throws(Problem) {
    if let refusal = community.store.writeRefusal { throw Problem(refusal) }
  }

  /// Replaces the rate limits while the server runs. The buckets stay.
  public func use(_ rates: RateLimits) { limiter.use(rates) }

  public func add(to routes: inout Router.Builder) {
    addOAuth(to: &routes)
    addIssuers(to: &routes)
    for endpoint in Self.endpoints {
      for path in endpoint.paths {
        guard let bound = endpoint.bodyLimit else {
          routes.on(endpoint.method, Self.base + path, endpoint.handler(of: self))
          continue
        }
        let community = community
        routes.on(
          endpoint.method, Self.base + path, bodyLimit: { community.bounds[keyPath: bound] }, endpoint.handler(of: self)
        )
      }
    }
  }
}

extension API {
  /// Adds `GET /metrics` for admins and owners, with a token or a session of the scope `admin`.
  public func addMetrics(to routes: inout Router.Builder, _ text: @escaping @Sendable () async -> Response) {
    let endpoint = Endpoint(.get, "/metrics", .user(.admin)) { context in
      try context.view.requireStaff(context.caller)
      return await text()
    }
    routes.on(.get, endpoint.path, endpoint.handler(of: self))
  }
}

/// One row of the route table.
struct Endpoint: Sendable {
  typealias Answer = @Sendable (RequestContext) async throws -> Response

  let method: Method
  let path: String
  /// The method and the path, by which the exceptions of checks are listed.
  let name: String
  let access: Access
  /// Overrides the default limit of request bodies.
  let bodyLimit: (any KeyPath<Bounds, Int> & Sendable)?
  /// The rate limit that the endpoint counts against; nil for no limit.
  let rateLimit: RateLimitKind?
  /// Whether a writing endpoint takes a query. Safe endpoints declare theirs by reading it.
  let takesQuery: Bool
  let answer: Answer

  /// The credential that an endpoint requires. The community decides about visibility and permissions.
  enum Access: Sendable, Hashable {
    /// Visitors and users.
    case anyone
    /// A user with a credential of this scope.
    case user(Scope)
    /// A webhook, by the secret in the path. Other credentials are ignored.
    case webhook
    /// The program behind a slash command, by the secret in the path.
    case invocation
    /// An app, by its own credentials (OAuth). Other credentials are ignored.
    case client
    /// The operator, over the control socket in the data folder.
    case controlSocket
  }

  /// Unsafe methods count as `.writing` by default.
  ///
  /// - Parameter name: of the operation that a request in another wire format stands for; nil for the method and the path.
  init(
    _ method: Method, _ path: String, named name: String? = nil, _ access: Access,
    counts rateLimit: RateLimitKind? = nil, bodyLimit: (any KeyPath<Bounds, Int> & Sendable)? = nil,
    takesQuery: Bool = false, _ answer: @escaping Answer
  ) {
    self.method = method
    self.path = path
    self.name = name ?? "\(method.name) \(path)"
    self.access = access
    self.bodyLimit = bodyLimit
    self.rateLimit = rateLimit ?? (method.isSafe ? nil : .writing)
    self.takesQuery = takesQuery
    self.answer = answer
  }

  /// Paths of the staff, whose noun has another operation for one's own.
  private static let ofStaff: Set = ["/users/{id}/identities"]

  /// `/me` and `/me/…` are short for `/users/me` and `/users/me/…`.
  var paths: [String] {
    let (me, them) = ("/me/", "/users/{id}")
    if path.hasPrefix(me) { return [path, "/users" + path] }
    if Self.ofStaff.contains(path) { return [path] }
    if path == them || path.hasPrefix(them + "/") { return [path, "/me" + path.dropFirst(them.count)] }
    return [path]
  }

  func handler(of api: API) -> Handler {
    { request, server throws(Problem) in
      var caller = Caller.visitor(network: server.networkHash)
      do {
        let context = try RequestContext(request, server, api, for: self, &caller)
        // Unsafe methods are checked before they change any state, safe ones after they have read their query.
        if !method.isSafe, !takesQuery { try context.requireNoStrayQuery() }
        var response = try await answer(context)
        if method.isSafe { try context.requireNoStrayQuery() }
        RequestContext.quota(of: self, caller, server, api)?.add(to: &response.fields)
        return response
      } catch {
        var problem = Problem(error)
        RequestContext.quota(of: self, caller, server, api)?.add(to: &problem.fields)
        throw problem
      }
    }
  }
}
