import Community
import JSON
import Model
import Web
import Wire

extension API {
  @Sendable static func signIn(_ call: Call) async throws -> Response {
    let (name, password, device, isForBrowser) = try await call.body { body in
      (
        try body.string("username"), try body.string("password"),
        try body.optional("device") ?? "", try body.optional("cookie") ?? false
      )
    }
    let opened = try await call.community.signIn(name: name, password: password, on: device)
    var response = Response.object(.created) { json in
      json.field("id", opened.id)
      json.field("user_id", opened.account)
      if !isForBrowser { json.field("token", opened.token) }
    }
    if isForBrowser {
      let isSecure = call.context.isSecure
      let cookie = SetCookie(
        name: Authentication.cookieName(call.context), value: opened.token, maxAge: Authentication.cookieAge,
        isSecure: isSecure)
      if let cookie { response.fields.add("Set-Cookie", cookie.fieldValue) }
    }
    return response
  }

  @Sendable static func endSession(_ call: Call) async throws -> Response {
    let session: ID<Session>? = call.request.parameters["id"] == "current" ? nil : try call.id()
    try await call.community.end(session, by: call.caller)
    return Response(.noContent)
  }
}
