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
    /// They only read for now.
    case pause
  }

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
  public static let blank = Newcomers()

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
