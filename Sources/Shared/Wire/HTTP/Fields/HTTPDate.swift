import ParleyJSON

/// HTTP dates (RFC 9110 §5.6.7) as seconds since 1970.
public enum HTTPDate {
  /// Formats `Sun, 06 Nov 1994 08:49:37 GMT`. Clamps to the years 0 to 9999.
  public static func format(_ seconds: Int) -> String {
    String(decoding: bytes(seconds), as: UTF8.self)
  }

  /// Formats as bytes, always 29.
  public static func bytes(_ seconds: Int) -> [UInt8] {
    let seconds = min(max(seconds, CivilDate.firstSecond), CivilDate.lastSecond)
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let second = seconds - days * 86_400
    let date = CivilDate(daysSince1970: days)
    // 1970-01-01 was a Thursday, day 4 counted from Sunday.
    let weekday = ((days + 4) % 7 + 7) % 7
    var output: [UInt8] = []
    output.reserveCapacity(29)
    output.append(String(weekdays[weekday].prefix(3)))
    output.append(", ")
    output.append(date.day, digits: 2)
    output.append(" ")
    output.append(months[date.month - 1])
    output.append(" ")
    output.append(date.year, digits: 4)
    output.append(" ")
    output.append(second / 3_600, digits: 2)
    output.append(":")
    output.append(second / 60 % 60, digits: 2)
    output.append(":")
    output.append(second % 60, digits: 2)
    output.append(" GMT")
    return output
  }

  /// Parses the three formats that recipients must accept. `now` (seconds) resolves two-digit years: a date more than
  /// 50 years in the future is in the past. The weekday is not checked.
  public static func parse(_ text: String, now: Int) -> Int? {
    var reader = FixedReader(text)
    if reader.name(of: weekdays) != nil {
      guard reader.take(", "), let day = reader.number(2), reader.take("-"),
        let month = reader.name(of: months), reader.take("-"), let year = reader.number(2), reader.take(" "),
        let second = time(&reader), reader.take(" GMT"), reader.isAtEnd
      else { return nil }
      return seconds(year: fullYear(year, now: now), month: month, day: day, second)
    }
    guard reader.name(of: shortWeekdays) != nil else { return nil }
    if reader.take(", ") {
      guard let day = reader.number(2), reader.take(" "), let month = reader.name(of: months), reader.take(" "),
        let year = reader.number(4), reader.take(" "), let second = time(&reader), reader.take(" GMT"), reader.isAtEnd
      else { return nil }
      return seconds(year: year, month: month, day: day, second)
    }
    guard reader.take(" "), let month = reader.name(of: months), reader.take(" "),
      let day = reader.take(" ") ? reader.number(1) : reader.number(2), reader.take(" "), let second = time(&reader),
      reader.take(" "), let year = reader.number(4), reader.isAtEnd
    else { return nil }
    return seconds(year: year, month: month, day: day, second)
  }

  private static func time(_ reader: inout FixedReader) -> Int? {
    guard let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
      let second = reader.number(2), hour < 24, minute < 60, second <= 60  // 60 is a leap second
    else { return nil }
    return hour * 3_600 + minute * 60 + second
  }

  private static func seconds(year: Int, month: Int, day: Int, _ second: Int) -> Int? {
    CivilDate(year: year, month: month + 1, day: day).map { $0.daysSince1970 * 86_400 + second }
  }

  private static func fullYear(_ year: Int, now: Int) -> Int {
    let current = CivilDate(daysSince1970: now / 86_400).year
    let full = current - current % 100 + year
    return full > current + 50 ? full - 100 : full
  }

  private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
  private static let shortWeekdays = weekdays.map { String($0.prefix(3)) }
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension [UInt8] {
  /// A zero-padded number.
  fileprivate mutating func append(_ number: Int, digits: Int) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      append(0x30 &+ UInt8(truncatingIfNeeded: number / divisor % 10))
      divisor /= 10
    }
  }
}

extension Fields {
  /// The time in seconds that the server asks to wait (RFC 9110 §10.2.3: seconds or a date). `now` is in seconds since 1970.
  public func retryAfter(at now: Int) -> Int? {
    guard let text = self["retry-after"] else { return nil }
    if 1...9 ~= text.utf8.count, text.utf8.allSatisfy(ASCII.isDigit) { return Int(text) }
    return HTTPDate.parse(text, now: now).map { $0 - now }
  }
}
