// On a full disk the server refuses operations that add content. The reserve that it gave up serves the others.

import ParleyWire

extension Endpoint {
  /// Unsafe endpoints, besides DELETE, that work on a full disk: they let users in, free space or let staff act.
  static let onFullDisk: Set<String> = [
    "POST /sessions", "POST /sessions/second-factor", "POST /sessions/passkey/options", "POST /sessions/passkey",
    "POST /sessions/current/proof/options", "POST /sessions/current/proof", "POST /links/{code}", "POST /me/tokens",
    "POST /password-resets", "PUT /me/password", "POST /users/{id}/reset", "POST /users/{id}/reset-second-factor",
    "POST /users/{id}/recover",
    "PATCH /users/{id}", "PATCH /settings", "POST /messages/{id}/remove", "POST /removals", "PUT /users/{id}/ban",
    "PUT /users/{id}/silence", "PATCH /reports", "PATCH /reports/{id}", "POST /destructions",
  ]

  var worksOnFullDisk: Bool {
    method.isSafe || method == .delete || access == .controlSocket || Self.onFullDisk.contains(name)
      || access == .client && rateLimit == .oauth
  }
}

extension RealtimeCommand {
  var worksOnFullDisk: Bool {
    switch self {
    case .hello, .subscribe, .unsubscribe, .delete, .removeAction, .typing, .presence, .publish, .ping: true
    case .send, .edit, .setAction, .read: false
    }
  }
}
