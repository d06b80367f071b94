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
      "id", "kind", "forum_id", "created_by", "created_at", "last_message_id", "last_seq", "revision",
    ]
    try compare(Topic.self, with: "Topic", except: identity)
    try compare(Topic.self, with: "TopicChange", except: ["reason", "if_revision"])
  }

  @Test func `the fields of the settings are those of their schemas`() throws {
    try compare(SiteSettings.self, with: "Settings", except: ["newcomers", "revision"])
    try compare(SiteSettings.self, with: "SettingsChange", except: ["newcomers", "if_revision"])
    try compare(Newcomers.self, with: "Newcomers", except: [])
    try compare(Newcomers.self, with: "NewcomersChange", except: [])
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
      let bounds = [property["minimum"], property["maximum"]].compactMap(\.self)
      let expected = field.bounds.map { [Tree.number(Double($0.lowerBound)), .number(Double($0.upperBound))] }
      #expect(bounds == expected ?? [], "\(schema).\(name)")
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
