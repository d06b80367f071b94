public import ParleyJSON

/// Hourly limits for users on probation, and its duration. Staff, moderators and bots are exempt.
public struct Newcomers: Sendable, Hashable {
  /// A user with fewer days or fewer messages than these is on probation.
  public var days = 1
  /// The number of messages that ends probation, once the days are over, too; 0 without this condition.
  public var messages = 5
  /// The maximum number of messages per hour.
  public var messagesPerHour = 120
  /// The maximum number of links per hour, in all messages together.
  public var linksPerHour = 10
  /// The maximum number of mentions per hour, in all messages together.
  public var mentionsPerHour = 20

  /// The default limits.
  public init() {}

  /// The maximum number of days of probation.
  public static let maxDays = 365
  /// The maximum number of messages that a site may require.
  public static let maxMessages = 1_000
  /// The maximum value of an hourly limit.
  public static let maxPerHour = 10_000

  /// The exceeded limit.
  public enum Limit: String, Sendable, Hashable, CaseIterable {
    /// Messages of a day, links of a message, mentioned users of a message.
    case messages, links, mentions
    /// They only read for now.
    case pause
  }

  /// The value of a limit per hour; 0 for a pause.
  public func perHour(_ limit: Limit) -> Int {
    switch limit {
    case .messages: messagesPerHour
    case .links: linksPerHour
    case .mentions: mentionsPerHour
    case .pause: 0
    }
  }
}

extension Newcomers: Record {
  /// The default limits, into which fields are read.
  public static let blank = Newcomers()

  /// Visits the fields that a PATCH may change, for JSON, patches and columns.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<Newcomers>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("days", &days, \.days, in: 0...Self.maxDays)
    try visitor.field("messages", &messages, \.messages, in: 0...Self.maxMessages)
    try visitor.field("messages_per_hour", &messagesPerHour, \.messagesPerHour, in: 0...Self.maxPerHour)
    try visitor.field("links_per_hour", &linksPerHour, \.linksPerHour, in: 0...Self.maxPerHour)
    try visitor.field("mentions_per_hour", &mentionsPerHour, \.mentionsPerHour, in: 0...Self.maxPerHour)
  }
}

extension Newcomers: JSONWritable {
  public func write(to json: inout JSONWriter) { json.object { writeFields(to: &$0) } }
}

extension Newcomers: JSONReadable {
  /// Absent members have their defaults.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    try readFields(from: &object, keepsAbsent: true)
  }
}
