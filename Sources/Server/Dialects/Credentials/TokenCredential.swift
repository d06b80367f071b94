import API
import Community
import ParleyModel
import ParleyWire
import Web

/// The token of a client of App.net or pnut: in the `Authorization` field, in the query, or in the body of a change.
enum TokenCredential {
  private static let name = "access_token"

  /// The caller with the token; nil for a request with the field, which the API reads. The cookie of the site does not count:
  /// a page of another origin could use it.
  static func caller(
    of request: Request, _ query: LenientQuery, _ body: ReceivedBody, _ server: Context, _ api: API
  ) async throws -> Caller? {
    if request.fields.has("authorization") { return nil }
    var token = query.text(name)
    if token == nil, !request.method.isSafe, !body.isMultipart { token = try await body.members().text(name) }
    guard let token else { return .visitor(network: server.networkHash) }
    guard let known = try api.view(on: server).authenticate(token, from: server.networkText) else {
      throw Refusal.unauthenticated
    }
    return known
  }
}
