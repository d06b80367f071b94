public import Community
import ParleyModel
import ParleyWire
public import Previews
import PubSub
public import Web

/// The REST half of the contract: what `Routes.swift` lists, answered by the community.
public struct API: Sendable {
  public let community: Community
  let release: Release
  let limiter: RateLimiter
  /// Nil where the server asks nobody anything.
  let previews: LinkPreviews?

  /// Every path of it begins so.
  public static let base = "/api/v1"

  /// What clients are told of the program that they talk to.
  public struct Release: Sendable {
    public var version: String
    /// Of the pages that it serves: a page that is older loads itself anew.
    public var web: String
    /// Older clients are asked to be renewed.
    public var minClient: String

    public init(version: String = "0", web: String = "0", minClient: String = "0") {
      self.version = version
      self.web = web
      self.minClient = minClient
    }
  }

  public init(
    _ community: Community, release: Release = Release(), rates: RateLimits = RateLimits(),
    previews: LinkPreviews? = nil
  ) {
    self.community = community
    self.release = release
    limiter = RateLimiter(rates)
    self.previews = previews
  }

  /// Where a store delivers to whose community is asked by this API.
  public static func publisher() -> Publisher {
    let frames = FrameMaker()
    return Publisher(Hub { frames.frame($0) })
  }

  public func add(to routes: inout Router.Builder) {
    for endpoint in Self.endpoints {
      for path in endpoint.paths {
        routes.on(
          endpoint.method, Self.base + path, bodyLimit: endpoint.bodyLimit.map { community.bounds[keyPath: $0] },
          endpoint.handler(of: self))
      }
    }
  }
}

/// One line of the table of contents.
struct Endpoint: Sendable {
  typealias Answer = @Sendable (RequestContext) async throws -> Response

  let method: Method
  let path: String
  let access: Access
  /// Where it is another than that of every request.
  let bodyLimit: (any KeyPath<Bounds, Int> & Sendable)?
  /// What it counts as; nil for what is not limited.
  let work: Work?
  /// Whether a query is for it, where it changes something. Other endpoints show that by reading it.
  let takesQuery: Bool
  let answer: Answer

  /// Who gets to ask at all. What they may see and do is the community's answer.
  enum Access: Sendable, Hashable {
    /// Nobody too.
    case anyone
    /// A user whose way in is good for that.
    case user(Scope)
    /// Who has the data folder, by a socket in it.
    case host
  }

  /// What changes something counts as writing, unless it says otherwise.
  init(
    _ method: Method, _ path: String, _ access: Access, counts work: Work? = nil,
    bodyLimit: (any KeyPath<Bounds, Int> & Sendable)? = nil, takesQuery: Bool = false, _ answer: @escaping Answer
  ) {
    self.method = method
    self.path = path
    self.access = access
    self.bodyLimit = bodyLimit
    self.work = work ?? (method.isSafe ? nil : .writing)
    self.takesQuery = takesQuery
    self.answer = answer
  }

  /// `/me` and `/me/…` are short for `/users/me` and `/users/me/…`.
  var paths: [String] {
    let (me, them) = ("/me/", "/users/{id}")
    if path.hasPrefix(me) { return [path, "/users" + path] }
    if path == them || path.hasPrefix(them + "/") { return [path, "/me" + path.dropFirst(them.count)] }
    return [path]
  }

  func handler(of api: API) -> Handler {
    { request, server throws(Problem) in
      do {
        let context = try RequestContext(request, server, api, for: self)
        // Before anything is changed; and what changes nothing, once it had the time to read its query.
        if !method.isSafe, !takesQuery { try context.requireNoStrayQuery() }
        let response = try await answer(context)
        if method.isSafe { try context.requireNoStrayQuery() }
        return response
      } catch {
        throw Problem(error)
      }
    }
  }
}
