import Community
import Mail
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  /// Takes a mail that the program `parley mail-in` has read. The control socket alone has it.
  @Sendable static func receiveMail(_ context: RequestContext) async throws -> Response {
    let mail = try await context.body { body in try IncomingMail(&body) }
    guard let service = context.api.mail else { throw Problem.mailOff }
    let (limiter, uptime) = (context.api.limiter, context.server.uptime)
    let receipt = try await context.community.receiveMail(mail, over: service) { caller throws(Refusal) in
      do { try limiter.count(.sending, by: caller, at: nil, now: uptime) } catch {
        // The mail server waits longer than any limit.
        throw .rateLimited(seconds: retrySeconds)
      }
    }
    return .object { json in json.field("receipt", receipt.rawValue) }
  }

  private static let retrySeconds = 60
}
