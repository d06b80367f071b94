// Operations of tokens that are limited to forums, or to the profile of their user. The rules of the community check the
// forum or the user of each of them; all other operations are refused.

import ParleyWire

extension Endpoint {
  private static let withForumToken: Set<String> = [
    "GET /server", "GET /settings", "GET /icon", "GET /emoji/{id}/picture", "GET /previews/{key}/picture",
    "DELETE /me/tokens/{id}", "DELETE /sessions/{id}",
    "GET /users", "GET /users/{id}", "GET /users/{id}/avatar",
    "GET /forums", "GET /forums/{id}", "PATCH /forums/{id}", "GET /forums/{id}/icon", "GET /forums/{id}/members",
    "PUT /forums/{id}/members/{user}", "DELETE /forums/{id}/members/{user}", "GET /forums/{id}/conversations",
    "POST /forums/{id}/conversations", "GET /forums/{id}/tags",
    "GET /conversations/{id}", "PATCH /conversations/{id}", "DELETE /conversations/{id}",
    "GET /conversations/{id}/messages", "POST /conversations/{id}/messages", "GET /conversations/{id}/digest",
    "GET /conversations/{id}/checkpoint",
    "GET /conversations/{id}/participants", "PUT /conversations/{id}/read", "PUT /conversations/{id}/delivered",
    "POST /conversations/{id}/typing", "GET /conversations/{id}/commands", "POST /conversations/{id}/commands",
    "GET /messages", "GET /messages/search", "GET /messages/reply-counts", "GET /messages/{id}", "PATCH /messages/{id}",
    "DELETE /messages/{id}", "POST /messages/{id}/remove", "POST /messages/{id}/restore",
    "GET /messages/{id}/replies", "GET /messages/{id}/revisions", "DELETE /messages/{id}/revisions/{revision}",
    "GET /messages/{id}/receipts", "GET /messages/{id}/actions", "PUT /messages/{id}/actions/{type}",
    "DELETE /messages/{id}/actions/{type}", "PUT /messages/{id}/vote", "GET /messages/{id}/votes",
    "POST /messages/{id}/poll/close", "POST /messages/{id}/presses", "POST /messages/{id}/topic",
    "GET /realtime", "GET /events", "GET /sync", "GET /streams/{stream}/events",
    "POST /files", "GET /files", "GET /files/{id}", "DELETE /files/{id}", "GET /files/{id}/content",
    "GET /files/{id}/preview", "PUT /files/{id}/preview", "POST /uploads", "GET /uploads/{id}", "PATCH /uploads/{id}",
    "DELETE /uploads/{id}",
  ]

  var worksWithForumToken: Bool { Self.withForumToken.contains(name) }

  /// Operations that a token of the scope `profile` calls as its user, not as a visitor.
  private static let withProfileToken: Set<String> = ["GET /users/{id}", "GET /users/{id}/avatar"]

  var worksWithProfileToken: Bool { Self.withProfileToken.contains(name) }

  /// Names in the lists that no endpoint has.
  static var strayForumTokenNames: Set<String> {
    withForumToken.union(withProfileToken).subtracting(API.endpoints.map(\.name))
  }
}
