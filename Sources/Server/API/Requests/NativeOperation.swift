// Requests in the wire formats of other systems pass the checks of the operation that they stand for: its credential and
// scope, its rate limit, the second factor, tokens of forums, and a full disk.

package import Community
package import ParleyWire
package import Web

/// The operation of the API that a request in another wire format stands for.
package struct NativeOperation: Sendable {
  fileprivate let endpoint: Endpoint

  /// An operation that the API does not have.
  package struct Unknown: Error, CustomStringConvertible {
    package let name: String

    package var description: String { "The API has no operation \(name)." }
  }

  /// The operation with this method and path, such as `PATCH /forums/{id}`.
  ///
  /// - Parameters:
  ///   - method: of the request. A change passes the checks of changes and counts as `writing`, even if it stands for an
  ///     operation that only reads.
  ///   - isOpen: whether visitors may call it, although the operation requires a user.
  package init(_ name: String, by method: Method, isOpen: Bool = false) throws(Unknown) {
    guard let named = API.endpoints.first(where: { $0.name == name }) else { throw Unknown(name: name) }
    endpoint = Endpoint(
      method, named.path, named: named.name, isOpen ? .anyone : named.access, counts: named.rateLimit,
      takesQuery: named.takesQuery, named.answer)
  }

  /// Adds the fields of the rate limit, unless the response has them.
  package func addQuota(of caller: Caller, _ server: Context, _ api: API, to response: inout Response) {
    RequestContext.quota(of: endpoint, caller, server, api)?.add(to: &response.fields)
  }
}

extension RequestContext {
  /// Checks a request in another wire format as the API checks the operation.
  ///
  /// - Parameters:
  ///   - given: the caller by a credential of the other format; nil reads the credentials of the API.
  ///   - known: set as soon as the caller is known, also if the request is refused after that.
  package init(
    _ request: Request, _ server: Context, _ api: API, for operation: NativeOperation, as given: Caller? = nil,
    _ known: inout Caller
  ) throws {
    try self.init(request, server, api, for: operation.endpoint, as: given, &known)
  }

  /// Counts the request against another limit, too.
  package func count(_ kind: RateLimitKind) throws {
    try api.limiter.count(kind, by: caller, at: server.client, now: server.uptime)
  }
}

extension API {
  /// The view of the event loop.
  package func view(on server: Context) -> CommunityView {
    server.locals.object(CommunityView.self) { community.view() }
  }

  package func logLine(_ line: String) { log(line) }
}
