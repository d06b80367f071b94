public import ParleyJSON

/// How much somebody new may do in an hour, and for how long somebody is new. Who looks after the place, keeps order, or is
/// a program of the place is never new.
public struct Newcomers: Sendable, Hashable {
  /// New is who has been here for less than these days, or has said less than this.
  public var days = 1
  public var messages = 5
  public var messagesPerHour = 120
  public var linksPerHour = 10
  public var mentionsPerHour = 20

  public init() {}

  public static let maxDays = 365
  public static let maxMessages = 1_000
  public static let maxPerHour = 10_000

  /// What of it was too much.
  public enum Limit: String, Sendable, Hashable, CaseIterable {
    case messages, links, mentions
  }

  public func perHour(_ limit: Limit) -> Int {
    switch limit {
    case .messages: messagesPerHour
    case .links: linksPerHour
    case .mentions: mentionsPerHour
    }
  }
}

extension Newcomers: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("days", days)
      json.field("messages", messages)
      json.field("messages_per_hour", messagesPerHour)
      json.field("links_per_hour", linksPerHour)
      json.field("mentions_per_hour", mentionsPerHour)
    }
  }
}

extension Newcomers: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let change = try NewcomersChange(&object)
    self = change.applied(to: Newcomers())
  }
}

/// What a PATCH of the settings says of them. What is absent stays.
public struct NewcomersChange: Sendable, Hashable {
  public var days: Int?
  public var messages: Int?
  public var messagesPerHour: Int?
  public var linksPerHour: Int?
  public var mentionsPerHour: Int?

  public init(
    days: Int? = nil, messages: Int? = nil, messagesPerHour: Int? = nil, linksPerHour: Int? = nil,
    mentionsPerHour: Int? = nil
  ) {
    self.days = days
    self.messages = messages
    self.messagesPerHour = messagesPerHour
    self.linksPerHour = linksPerHour
    self.mentionsPerHour = mentionsPerHour
  }

  init(_ object: inout JSONObject) throws(JSONError) {
    func number(_ name: String, _ most: Int) throws(JSONError) -> Int? {
      try object.optional(name) { value throws(JSONError) in try value.int(in: 0...most) }
    }
    days = try number("days", Newcomers.maxDays)
    messages = try number("messages", Newcomers.maxMessages)
    messagesPerHour = try number("messages_per_hour", Newcomers.maxPerHour)
    linksPerHour = try number("links_per_hour", Newcomers.maxPerHour)
    mentionsPerHour = try number("mentions_per_hour", Newcomers.maxPerHour)
  }

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    try self.init(&object)
    try object.finish()
  }

  public func applied(to newcomers: Newcomers) -> Newcomers {
    var changed = newcomers
    changed.days = days ?? newcomers.days
    changed.messages = messages ?? newcomers.messages
    changed.messagesPerHour = messagesPerHour ?? newcomers.messagesPerHour
    changed.linksPerHour = linksPerHour ?? newcomers.linksPerHour
    changed.mentionsPerHour = mentionsPerHour ?? newcomers.mentionsPerHour
    return changed
  }
}
