import ParleyModel
import Testing

/// Compares the fields of records with the schemas of the description.
@Suite struct RecordTests {
  @Test func `the fields of a forum are those of its schemas`() throws {
    let identity: Set = ["id", "room_id", "last_message_id", "created_by", "created_at", "revision"]
    try compare(Forum.self, with: "BareForum", except: identity)
    try compare(Forum.self, with: "ForumChange", except: ["from", "reason", "if_revision"])
  }

  @Test func `the fields of a topic are those of its schemas`() throws {
    let identity: Set = [
      "id", "kind", "forum_id", "tags", "created_by", "created_at", "last_message_id", "last_seq", "revision",
    ]
    try compare(Topic.self, with: "Topic", except: identity)
    try compare(Topic.self, with: "TopicChange", except: ["reason", "if_revision"])
  }

  @Test func `the fields of a conversation are those of its schemas`() throws {
    let others: Set = [
      "id", "kind", "forum_id", "owner_id", "type", "readers", "writers", "pinned", "solved_by", "tags", "distinct",
      "last_seq",
      "last_message_id", "created_by", "created_at", "revision", "participant_count", "participants",
    ]
    try compare(Conversation.self, with: "Conversation", except: others)
    try compare(
      Conversation.self, with: "ConversationChange", except: ["readers", "writers", "from", "reason", "if_revision"])
    for schema in ["Openness", "Readers", "Writers"] {
      try compare(Conversation.Openness.self, with: schema, except: [])
    }
  }

  @Test func `the fields of a user are those of its schemas`() throws {
    let identity: Set = ["id", "name", "bio_entities", "groups", "avatar", "avatar_file", "created_at", "revision"]
    try compare(UserSummary.self, with: "UserSummary", except: identity)
    let profile: Set = ["display_name", "bio", "status_text", "status_emoji", "status_expires_at", "role"]
    let own: Set = ["discoverable", "reachable_by", "show_receipts", "show_presence", "show_stars", "preferences"]
    let standing: Set = ["state", "imported", "last_seen_at", "owner_id", "job_id", "silences"]
    try compare(UserSummary.self, with: "User", except: identity.union(standing).union(own))
    try compare(User.Own.self, with: "User", except: identity.union(standing).union(profile))
    let others: Set = ["name", "disabled", "addresses", "end_sessions", "reason", "if_revision"]
    try compare(UserSummary.self, with: "UserChange", except: others.union(own))
    try compare(UserGroup.self, with: "UserGroup", except: ["id", "revision"])
    try compare(UserGroup.self, with: "UserGroupDraft", except: ["client_id"])
    try compare(UserGroup.self, with: "UserGroupChange", except: ["if_revision"])
    try compare(User.Own.self, with: "UserChange", except: others.union(profile))
  }

  @Test func `the fields of records without a PATCH are those of their schemas`() throws {
    try compare(Invite.self, with: "Invite", except: ["used_by"])
    try compare(Invite.self, with: "CreatedInvite", except: ["code"])
    try compare(Report.self, with: "Report", except: ["surroundings", "group"])
    let identity: Set = ["id", "created_by", "created_at", "revision"]
    try compare(ModerationRule.self, with: "ModerationRule", except: identity)
    try compare(ModerationRule.self, with: "ModerationRuleDraft", except: ["client_id"])
    try compare(ModerationRule.self, with: "ModerationRuleChange", except: ["if_revision"])
    try compare(File.self, with: "StoredFile", except: ["sha256", "url", "preview"])
    try compare(File.Preview.self, with: "FilePreview", except: ["url"])
  }

  @Test func `the fields of the settings are those of their schemas`() throws {
    try compare(SiteSettings.self, with: "Settings", except: ["newcomers", "emoji", "groups", "revision"])
    try compare(SiteSettings.self, with: "SettingsChange", except: ["newcomers", "if_revision"])
    try compare(Newcomers.self, with: "Newcomers", except: [])
    try compare(Newcomers.self, with: "NewcomersChange", except: [])
    try compare(NotificationSettings.self, with: "NotificationSettings", except: [])
    try compare(NotificationSettings.self, with: "NotificationSettingsChange", except: [])
  }

  private func compare<Subject: Record>(
    _ record: Subject.Type, with schema: String, except others: Set<String>
  ) throws {
    let description = try #require(Description.shipped)
    let properties = try #require(description.document["components"]?["schemas"]?[schema]?["properties"]).members
    var lister = FieldLister<Subject>()
    var blank = Subject.blank
    blank.visitFields(&lister)
    #expect(Set(lister.fields.keys) == Set(properties.keys).subtracting(others), "\(schema)")
    for (name, field) in lister.fields {
      let property = try #require(properties[name], "\(schema).\(name)")
      #expect(isNullable(property) == field.isNullable, "\(schema).\(name)")
      // A number outside of requests has no upper bound.
      guard field.bounds != nil || property["maximum"] != nil else { continue }
      let bounds = [property["minimum"], property["maximum"]]
      let expected = field.bounds.map { [Tree.number(Double($0.lowerBound)), .number(Double($0.upperBound))] }
      #expect(bounds == expected, "\(schema).\(name)")
    }
  }

  private func isNullable(_ property: Tree) -> Bool {
    property["type"]?.items.contains(.string("null")) == true
      || property["anyOf"]?.items.contains { $0["type"] == .string("null") } == true
  }
}

private struct FieldLister<Visited: Record>: FieldVisitor {
  var fields: [String: (isNullable: Bool, bounds: ClosedRange<Int>?)] = [:]

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    fields[name] = (Value.absent != nil, bounds)
  }
}
