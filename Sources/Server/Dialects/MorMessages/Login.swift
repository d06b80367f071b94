import API
import Community
import ParleyModel
import ParleyWire
import Web

extension MorMessagesCall {
  /// The name of a caller without a user.
  private static let anonymous = "anonymous"

  /// Signs in and sets the session cookie. Browsers send an `Origin` with each POST, and a page of another origin must
  /// not sign its visitor in.
  func signIn(_ sessions: BasicSessions) async throws -> Response {
    try Self.refuseForeignOrigin(context.request, context.server)
    guard var body = try MorMessagesBody(try await context.request.body.collect()) else {
      throw MorMessagesFailure.credentials
    }
    let (name, password) = (try body.text("username"), try body.text("password"))
    guard let name, let password else { throw MorMessagesFailure.credentials }
    do {
      let opened = try await context.signIn(name: name, password: password, on: Dialect.mormessages.system)
      // The client may send its credentials with each later request, beside the cookie or without it.
      try sessions.keep(opened, for: BasicCredentials(name: name, password: password), context.server, context.api)
      var response = MorMessagesStatus(kind: .success, details: opened.user.summary.name ?? name).response()
      try context.addCookies(of: opened, to: &response)
      return response
    } catch Refusal.wrongCredentials {
      throw MorMessagesFailure(.unauthorized, name)
    }
  }

  func whoami() throws -> Response {
    let name = caller.user == nil ? Self.anonymous : try view.ownName(of: caller)
    return MorMessagesStatus(kind: .success, details: name).response(username: name)
  }

  /// Ends the session of the Basic credentials or of the cookie; after a login they are the same. Tokens stay.
  func signOut(_ sessions: BasicSessions) async throws -> Response {
    var response = MorMessagesStatus(kind: .success, details: nil).response()
    guard caller.user != nil else { return response }
    let hasEnded: Bool
    if let basic {
      hasEnded = try await sessions.end(basic, of: caller, context.server, context.api)
    } else {
      hasEnded = try !view.isToken(caller)
      if hasEnded { try await context.community.revokeSession(nil, by: caller) }
    }
    if hasEnded { context.dropCookie(in: &response) }
    return response
  }
}
