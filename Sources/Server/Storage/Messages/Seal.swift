import ParleyJSON
import ParleyModel

/// The content of a removed message without its files, stored as JSON in the table `sealed`.
struct Seal {
  var text: MessageText
  var annotations: MessageAnnotations?
  var sentAt: Int?
  /// In stored form.
  var buttons: String?
  /// The post that it reposts.
  var repostOf: Int?
  /// Whether it was the solution of its topic.
  var isSolution = false
  var revisions: [Revision] = []
  var notifications: [SealedNotification] = []

  struct Revision {
    let revision: Int
    let text: String
    let entities: String?
    let editedAt: Int
    let editedBy: Int
  }

  /// A notification about the message.
  struct SealedNotification {
    let id: Int
    let user: Int
    let kind: String
    let conversation: Int?
    let actor: Int?
    let createdAt: Int
    let readAt: Int?
  }
}

extension Seal {
  var json: String {
    var json = JSONWriter()
    json.value(self)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  init(json: String) throws(JSONError) {
    try self.init(json: JSONValue(parsing: Array(json.utf8)))
  }
}

extension Seal: JSONWritable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("text", text.markdown)
      json.field("entities", text.entities)
      json.field("hashtags", text.hashtags)
      json.field("mentions", text.mentions.map(\.number))
      json.field("links", text.links)
      Self.write(annotations, to: &json)
      json.field("sent_at", sentAt)
      if let buttons { json.field("buttons", buttons) }
      if let repostOf { json.field("repost_of", repostOf) }
      if isSolution { json.field("solution", true) }
      json.field("revisions", revisions)
      json.field("notifications", notifications)
    }
  }
}

extension Seal: JSONReadable {
  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    text = MessageText(try object.string("text"))
    text.entities = try object.optional("entities")
    text.hashtags = try object.read("hashtags")
    let mentions: [Int] = try object.read("mentions")
    text.mentions = mentions.map { ID($0) }
    text.links = try object.read("links")
    annotations = try object.optional("annotations", Self.annotations)
    sentAt = try object.optional("sent_at")
    buttons = try object.optional("buttons")
    repostOf = try object.optional("repost_of")
    isSolution = try object.optional("solution") ?? false
    revisions = try object.read("revisions")
    notifications = try object.read("notifications")
    try object.finish()
  }
}

extension Seal {
  private static func write(_ annotations: MessageAnnotations?, to json: inout JSONWriter) {
    guard let annotations else { return json.null("annotations") }
    json.object("annotations") { json in
      json.field("json", annotations.json)
      json.field("types", annotations.types)
      guard let location = annotations.location else { return json.null("location") }
      json.object("location") { json in
        json.field("name", location.name)
        json.field("latitude", location.latitude)
        json.field("longitude", location.longitude)
      }
    }
  }

  private static func annotations(_ value: JSONValue) throws(JSONError) -> MessageAnnotations {
    var object = try value.object()
    let annotations = MessageAnnotations(
      json: try object.string("json"), types: try object.read("types"),
      location: try object.optional("location", location))
    try object.finish()
    return annotations
  }

  private static func location(_ value: JSONValue) throws(JSONError) -> Location {
    var object = try value.object()
    let location = Location(
      name: try object.optional("name"), latitude: try object.double("latitude"),
      longitude: try object.double("longitude"))
    try object.finish()
    return location
  }
}

extension Seal.Revision: JSONWritable, JSONReadable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("revision", revision)
      json.field("text", text)
      json.field("entities", entities)
      json.field("edited_at", editedAt)
      json.field("edited_by", editedBy)
    }
  }

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    revision = try object.int("revision")
    text = try object.string("text")
    entities = try object.optional("entities")
    editedAt = try object.int("edited_at")
    editedBy = try object.int("edited_by")
    try object.finish()
  }
}

extension Seal.SealedNotification: JSONWritable, JSONReadable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("user", user)
      json.field("kind", kind)
      json.field("conversation", conversation)
      json.field("actor", actor)
      json.field("created_at", createdAt)
      json.field("read_at", readAt)
    }
  }

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.int("id")
    user = try object.int("user")
    kind = try object.string("kind")
    conversation = try object.optional("conversation")
    actor = try object.optional("actor")
    createdAt = try object.int("created_at")
    readAt = try object.optional("read_at")
    try object.finish()
  }
}
