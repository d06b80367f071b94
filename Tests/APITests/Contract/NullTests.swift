import Foundation
import ParleyWire
import Testing

@testable import API

/// `null` is refused where the description has no null: taken as "absent", `"if_revision": null` would skip the check.
@Suite struct NullTests {
  @Test(arguments: [
    (ParleyWire.Method.patch, "/settings", "if_revision"), (.patch, "/settings", "name"),
    (.patch, "/settings", "newcomers"), (.patch, "/me", "if_revision"), (.patch, "/me", "bio"),
    (.post, "/forums", "section"), (.post, "/conversations", "title"), (.delete, "/users/me", "password"),
    (.post, "/sessions", "device"), (.post, "/me/tokens", "expires_at"), (.post, "/bots", "forums"),
    (.post, "/bots", "display_name"), (.post, "/uploads", "type"),
  ])
  func `null for a member without null is refused`(
    method: ParleyWire.Method, path: String, member: String
  ) async throws {
    try await Village.open(.inMemory) { village in
      var body: [String: Any] = [member: NSNull()]
      switch path {
      case "/forums": body["title"] = "seeds"
      case "/conversations": body["kind"] = "group"
      case "/sessions": (body["name"], body["password"]) = ("ada", "ada’s password")
      case "/me/tokens", "/bots": (body["name"], body["scope"]) = ("bot", "read")
      case "/uploads": (body["name"], body["size"]) = ("a.txt", 1)
      default: break
      }
      let answer = try await village.request(method, path, as: "ada", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == member, "\(answer.text)")
    }
  }

  @Test func `every body member is refused as null unless the description has a null`() async throws {
    try await Village.open(.inMemory) { village in
      let description = try #require(Description.shipped)
      let (forum, room) = try await village.garden(members: ["grace"])
      let topic = try await village.topic("seeds", in: forum)
      let message = try await village.post("x", in: room)
      let group = try await village.conversation("group", by: "ada", with: ["grace"])
      let rows: [(ParleyWire.Method, String, String)] = [
        (.patch, "/settings", "SettingsChange"), (.patch, "/me", "UserChange"), (.post, "/forums", "ForumDraft"),
        (.patch, "/forums/\(forum)", "ForumChange"), (.post, "/forums/\(forum)/conversations", "TopicDraft"),
        (.patch, "/conversations/\(topic)", "TopicChange"), (.patch, "/conversations/\(group)", "ConversationChange"),
        (.post, "/conversations", "ConversationDraft"), (.post, "/conversations/\(room)/messages", "MessageDraft"),
        (.patch, "/messages/\(message)", "MessageChange"), (.post, "/invites", "InviteDraft"),
        (.post, "/bots", "BotDraft"), (.post, "/webhooks", "WebhookDraft"),
        (.post, "/webhook-endpoints", "WebhookEndpointDraft"), (.post, "/commands", "SlashCommandDraft"),
        (.post, "/conversations/\(room)/commands", "CommandInvocationDraft"), (.post, "/apps", "AppDraft"),
        (.post, "/reports", "ReportDraft"), (.post, "/removals", "RemovalDraft"),
        (.post, "/destructions", "DestructionDraft"),
        (.put, "/users/@grace/ban", "BanDraft"),
      ]
      for (method, path, schema) in rows {
        let properties = description.document["components"]?["schemas"]?[schema]?["properties"]?.members ?? [:]
        #expect(!properties.isEmpty, "\(schema)")
        for (name, property) in properties {
          let isNullable =
            property["type"]?.items.contains(.string("null")) == true
            || property["anyOf"]?.items.contains { $0["type"] == .string("null") } == true
          guard !isNullable else { continue }
          let answer = try await village.request(method, path, as: "ada", [name: NSNull()])
          #expect(answer.status == 400, "\(path) \(name): \(answer.text)")
        }
      }
    }
  }
}
