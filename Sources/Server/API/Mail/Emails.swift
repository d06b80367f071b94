import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func getEmail(_ context: RequestContext) async throws -> Response {
    .one(try context.view.getEmail(for: context.caller))
  }

  @Sendable static func setEmail(_ context: RequestContext) async throws -> Response {
    let address = try await context.body { body in try body.string("address") }
    _ = try context.mail()
    return .one(try await context.community.setEmail(address, by: context.caller))
  }

  @Sendable static func deleteEmail(_ context: RequestContext) async throws -> Response {
    let keepsSessions = try await context.optionalBody { body in try body.optional("keep_sessions") ?? false }
    try await context.community.deleteEmail(keepsSessions: keepsSessions, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func confirmEmail(_ context: RequestContext) async throws -> Response {
    let (code, keepsSessions): (String, Bool) = try await context.body { body in
      (try body.string("code"), try body.optional("keep_sessions") ?? false)
    }
    return .one(
      try await context.community.confirmEmail(code, keepsSessions: keepsSessions, by: context.caller))
  }

  @Sendable static func requestPasswordReset(_ context: RequestContext) async throws -> Response {
    let login = try await context.body { body in try body.string("login") }
    _ = try context.mail()
    try await context.community.requestPasswordReset(of: login)
    return Response(.accepted)
  }

  @Sendable static func sendTestMail(_ context: RequestContext) async throws -> Response {
    let address = try await context.body { body in try body.string("address") }
    return .one(
      try await context.community.sendTestMail(to: address, over: try context.mail(), by: context.caller))
  }
}

extension RequestContext {
  fileprivate func mail() throws(Problem) -> MailService {
    guard let mail = api.mail else { throw .mailOff }
    return mail
  }
}
