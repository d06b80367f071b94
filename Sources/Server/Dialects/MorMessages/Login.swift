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
  func signIn() async throws -> Response {
    try Self.refuseForeignOrigin(context.request, context.server)
    guard var body = try MorMessagesBody(try await context.request.body.collect()) else {
      throw MorMessagesFailure.credentials
    }
    let (name, password) = (try body.text("username"), try body.text("password"))
    guard let name, let password else { throw MorMessagesFailure.credentials }
    do {
      let opened = try await context.signIn(name: name, password: password, on: Dialect.mormessages.system)
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

  /// Ends the session of the cookie, or the one that Basic credentials opened. Tokens stay.
  func signOut(_ sessions: BasicSessions) async throws -> Response {
    var response = MorMessagesStatus(kind: .success, details: nil).response()
    guard caller.user != nil else { return response }
    if let basic {
      try await sessions.end(basic, of: caller, context.api)
    } else if try !view.isToken(caller) {
      try await context.community.revokeSession(nil, by: caller)
      context.dropCookie(in: &response)
    }
    return response
  }
}
