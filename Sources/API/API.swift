public import Community
import Model
public import Web
import Wire

/// The REST half of the contract: what `Routes.swift` lists, answered by the community.
public struct API: Sendable {
  let community: Community

  /// Every path of it begins so.
  public static let base = "/api/v1"

  public init(_ community: Community) {
    self.community = community
  }

  public func add(to routes: inout Router.Builder) {
    for endpoint in Self.endpoints {
      routes.on(
        endpoint.method, Self.base + endpoint.path, bodyLimit: endpoint.bodyLimit, endpoint.handler(of: community))
    }
  }
}

/// One line of the table of contents.
struct Endpoint: Sendable {
  typealias Answer = @Sendable (Call) async throws -> Response

  let method: Method
  let path: String
  let access: Access
  let bodyLimit: Int?
  let answer: Answer

  /// Who gets to ask at all. What they may see and do is the community's answer.
  enum Access: Sendable, Hashable {
    /// Nobody too.
    case anyone
    /// A person whose way in is good for that.
    case person(Scope)
  }

  init(
    _ method: Method, _ path: String, _ access: Access, bodyLimit: Int? = nil, _ answer: @escaping Answer
  ) {
    self.method = method
    self.path = path
    self.access = access
    self.bodyLimit = bodyLimit
    self.answer = answer
  }

  func handler(of community: Community) -> Handler {
    { request, context throws(Problem) in
      do {
        return try await answer(Call(request, context, community, for: access))
      } catch {
        throw Problem(error)
      }
    }
  }
}
