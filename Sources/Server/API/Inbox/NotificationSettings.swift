import ParleyModel
import Web

extension API {
  @Sendable static func getNotificationSettings(_ context: RequestContext) async throws -> Response {
    .one(try context.view.getNotificationSettings(for: context.caller))
  }

  @Sendable static func updateNotificationSettings(_ context: RequestContext) async throws -> Response {
    let change = try await context.body { body in try Patch<NotificationSettings>(&body) }
    return .one(try await context.community.updateNotificationSettings(change, by: context.caller))
  }
}
