// Requests in the wire formats of other systems pass the checks of the operation that they stand for: its credential and
// scope, its rate limit, the second factor, tokens of forums, and a full disk.

package import Community
package import Web

/// The operation of the API that a request in another wire format stands for.
package struct NativeOperation: Sendable {
  fileprivate let endpoint: Endpoint

  /// The operation with this method and path, such as `PATCH /forums/{id}`.
  ///
  /// - Parameter rateLimit: of a request that has no operation of its own; nil for that of the operation.
  package init?(_ name: String, counts rateLimit: RateLimitKind? = nil) {
    guard let named = API.endpoints.first(where: { $0.name == name }) else { return nil }
    guard let rateLimit else {
      endpoint = named
      return
    }
    endpoint = Endpoint(
      named.method, named.path, named.access, counts: rateLimit, takesQuery: named.takesQuery, named.answer)
  }
}

extension RequestContext {
  /// Checks a request in another wire format as the API checks the operation.
  ///
  /// - Parameter caller: by a credential of the other format; nil reads the credentials of the API.
  package init(
    _ request: Request, _ server: Context, _ api: API, for operation: NativeOperation, as caller: Caller? = nil
  ) throws {
    var known = Caller.visitor(network: server.networkHash)
    try self.init(request, server, api, for: operation.endpoint, as: caller, &known)
  }

  /// Adds the fields of the rate limit of the operation.
  package func addQuota(of operation: NativeOperation, to response: inout Response) {
    Self.quota(of: operation.endpoint, caller, server, api)?.add(to: &response.fields)
  }
}

extension API {
  /// The view of the event loop.
  package func view(on server: Context) -> CommunityView {
    server.locals.object(CommunityView.self) { community.view() }
  }

  package func logLine(_ line: String) { log(line) }
}
