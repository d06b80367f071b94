public import ParleyJSON

/// Hours of the day without push messages, in the time zone of the user.
public struct QuietHours: Sendable, Hashable {
  /// Minutes since midnight. With `to` before `from` they end on the next day.
  /// Below 1,440.
  public var from: Int
  /// The end in minutes since midnight, the first minute that is not quiet.
  public var to: Int
  /// The days on which they begin.
  public var days: Set<Weekday>
  /// A name of the IANA database, such as `Europe/Berlin`.
  public var timeZone: String

  /// A day of the week, by its English name in JSON.
  public enum Weekday: String, Sendable, Hashable, CaseIterable {
    /// Days of the week, by their English names.
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday

    /// The day with this number of days since 1970.
    public init(daysSince1970 days: Int) { self = Self.allCases[((days + 3) % 7 + 7) % 7] }
  }

  /// Quiet hours from one minute of the day to another; by default on all days.
  public init(from: Int, to: Int, days: Set<Weekday> = Set(Weekday.allCases), timeZone: String) {
    (self.from, self.to) = (from, to)
    self.days = days
    self.timeZone = timeZone
  }

  /// - Parameter time: seconds since 1970, as a clock in the time zone shows them.
  public func contain(local time: Int) -> Bool {
    let day = (time >= 0 ? time : time - 86_399) / 86_400
    let minute = (time - day * 86_400) / 60
    let beginsToday = days.contains(Weekday(daysSince1970: day))
    if from < to { return beginsToday && from <= minute && minute < to }
    return beginsToday && minute >= from || days.contains(Weekday(daysSince1970: day - 1)) && minute < to
  }
}

extension QuietHours: FieldValue, JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let days: [String]? = try object.optional("days")
    self.init(
      from: try Self.minute(object.value("from")), to: try Self.minute(object.value("to")),
      timeZone: try object.string("time_zone"))
    if let days {
      let found = days.map { Weekday(rawValue: $0) }
      guard !found.contains(nil) else { throw value.error(.invalid) }
      self.days = Set(found.compactMap { $0 })
    }
    try object.finish()
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("from", Self.clock(from))
      json.field("to", Self.clock(to))
      json.field("days", Weekday.allCases.filter { days.contains($0) }.map(\.rawValue))
      json.field("time_zone", timeZone)
    }
  }

  /// Stored as JSON.
  public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    do throws(JSONError) { try self.init(json: JSONValue(parsing: [UInt8](text.utf8))) } catch { return nil }
  }

  /// The JSON for a text column.
  public var stored: StoredValue {
    var json = JSONWriter()
    json.value(self)
    return .text(String(decoding: json.bytes, as: UTF8.self))
  }

  /// `HH:MM`.
  private static func minute(_ value: JSONValue) throws(JSONError) -> Int {
    let text = Array(try value.string().utf8)
    func number(_ at: Int) -> Int? {
      guard case (let tens, let ones) = (text[at], text[at + 1]), 48...57 ~= tens, 48...57 ~= ones else { return nil }
      return Int(tens - 48) * 10 + Int(ones - 48)
    }
    guard text.count == 5, text[2] == UInt8(ascii: ":"), let hour = number(0), let minute = number(3), hour < 24,
      minute < 60
    else { throw value.error(.invalid) }
    return hour * 60 + minute
  }

  private static func clock(_ minute: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minute / 60)):\(two(minute % 60))"
  }
}
