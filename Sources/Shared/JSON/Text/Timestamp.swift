/// A point in time in JSON: RFC 3339 in UTC with milliseconds, `2026-11-20T15:16:41.123Z`. Other code uses milliseconds
/// since 1970.
///
///     json.field("created_at", Timestamp(message.createdAt))
public struct Timestamp: Hashable, Sendable {
  /// Milliseconds since 1970; negative before.
  public let milliseconds: Int

  /// A time for JSON, from milliseconds since 1970.
  public init(_ milliseconds: Int) { self.milliseconds = milliseconds }

  /// A time for JSON, from milliseconds since 1970 as the model stores them.
  @inlinable public init(_ milliseconds: Int64) { self.init(Int(milliseconds)) }

  /// Times outside the years 0 to 9999 are clamped.
  public static func format(_ milliseconds: Int) -> String {
    let bytes = [UInt8](capacity: length) { output in Timestamp(milliseconds).write(to: &output) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text of the time, 24 bytes of ASCII without quotes.
  public func append(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: Self.length) { output in write(to: &output) }
  }

  /// The length in bytes.
  static let length = 24

  func write(to output: inout OutputSpan<UInt8>) {
    let milliseconds = min(max(milliseconds, CivilDate.firstSecond * 1_000), CivilDate.lastSecond * 1_000 + 999)
    let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
    let rest = milliseconds - days * 86_400_000
    let date = CivilDate(daysSince1970: days)
    output.append(pair: date.year / 100)
    output.append(pair: date.year % 100)
    output.append(UInt8(ascii: "-"))
    output.append(pair: date.month)
    output.append(UInt8(ascii: "-"))
    output.append(pair: date.day)
    output.append(UInt8(ascii: "T"))
    output.append(pair: rest / 3_600_000)
    output.append(UInt8(ascii: ":"))
    output.append(pair: rest / 60_000 % 60)
    output.append(UInt8(ascii: ":"))
    output.append(pair: rest / 1_000 % 60)
    output.append(UInt8(ascii: "."))
    output.append(digit: rest / 100 % 10)
    output.append(pair: rest % 100)
    output.append(UInt8(ascii: "Z"))
  }

  /// Parses a time with `Z` or an offset and fractional digits, of which three are used. Leap seconds are rejected, since
  /// they have no milliseconds of their own, and so are times that an offset moves out of the years 0 to 9999.
  public static func parse(_ text: String) -> Int? {
    var reader = FixedReader(text)
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
      let day = reader.number(2), reader.take("T") || reader.take("t"), let hour = reader.number(2), reader.take(":"),
      let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
      hour < 24, minute < 60, second < 60,
      let date = CivilDate(year: year, month: month, day: day), let fraction = fraction(&reader),
      let offset = offset(&reader), reader.isAtEnd
    else { return nil }
    let minutes = date.daysSince1970 * 1_440 + hour * 60 + minute - offset
    let seconds = minutes * 60 + second
    guard (CivilDate.firstSecond...CivilDate.lastSecond).contains(seconds) else { return nil }
    return seconds * 1_000 + fraction
  }

  private static func fraction(_ reader: inout FixedReader) -> Int? {
    guard reader.take(".") else { return 0 }
    var milliseconds = 0
    var digits = 0
    while let digit = reader.number(1) {
      if digits < 3 { milliseconds = milliseconds * 10 + digit }
      digits += 1
    }
    guard digits > 0 else { return nil }
    for _ in min(digits, 3)..<3 { milliseconds *= 10 }
    return milliseconds
  }

  /// Minutes ahead of UTC.
  private static func offset(_ reader: inout FixedReader) -> Int? {
    if reader.take("Z") || reader.take("z") { return 0 }
    let sign = reader.take("+") ? 1 : reader.take("-") ? -1 : 0
    guard sign != 0, let hours = reader.number(2), reader.take(":"), let minutes = reader.number(2), hours < 24,
      minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }
}

extension Timestamp: JSONWritable {
  public func write(to json: inout JSONWriter) { json.plain(Self.length) { output in write(to: &output) } }
}

extension Timestamp: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let milliseconds = value.isWildcard ? 0 : Self.parse(try value.string()) else { throw value.error(.invalid) }
    self.init(milliseconds)
  }
}

extension OutputSpan<UInt8> {
  fileprivate mutating func append(digit: Int) { append(0x30 &+ UInt8(truncatingIfNeeded: digit)) }

  fileprivate mutating func append(pair number: Int) {
    append(digit: number / 10)
    append(digit: number % 10)
  }
}
