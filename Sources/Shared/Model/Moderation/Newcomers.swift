public import ParleyJSON

/// Hourly limits for users on probation, and its duration. Staff, moderators and bots are exempt.
public struct Newcomers: Sendable, Hashable {
  /// A user with fewer days or fewer messages than these is on probation.
  public var days = 1
  public var messages = 5
  public var messagesPerHour = 120
  public var linksPerHour = 10
  public var mentionsPerHour = 20

  public init() {}

  public static let maxDays = 365
  public static let maxMessages = 1_000
  public static let maxPerHour = 10_000

  /// The exceeded limit.
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

/// PATCH of these settings. Absent members stay unchanged.
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
    func number(_ name: String, _ max: Int) throws(JSONError) -> Int? {
      try object.optional(name) { value throws(JSONError) in try value.int(in: 0...max) }
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
