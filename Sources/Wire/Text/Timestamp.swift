/// Points in time as text (RFC 3339), in UTC with milliseconds: `2026-11-20T15:16:41.123Z`. Everywhere else a point in
/// time is a whole number of milliseconds since 1970.
public enum Timestamp {
  /// What lies outside the years 0 to 9999 is written as the nearest that does not.
  public static func format(_ milliseconds: Int) -> String {
    var bytes: [UInt8] = []
    append(milliseconds, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Puts the 24 bytes behind what `output` holds.
  public static func append(_ milliseconds: Int, to output: inout [UInt8]) {
    let milliseconds = min(max(milliseconds, CivilDate.firstSecond * 1_000), CivilDate.lastSecond * 1_000 + 999)
    let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
    let rest = milliseconds - days * 86_400_000
    let date = CivilDate(daysSince1970: days)
    output.reserveCapacity(output.count + 24)
    output.append(date.year, digits: 4)
    output.append(UInt8(ascii: "-"))
    output.append(date.month, digits: 2)
    output.append(UInt8(ascii: "-"))
    output.append(date.day, digits: 2)
    output.append(UInt8(ascii: "T"))
    output.append(rest / 3_600_000, digits: 2)
    output.append(UInt8(ascii: ":"))
    output.append(rest / 60_000 % 60, digits: 2)
    output.append(UInt8(ascii: ":"))
    output.append(rest / 1_000 % 60, digits: 2)
    output.append(UInt8(ascii: "."))
    output.append(rest % 1_000, digits: 3)
    output.append(UInt8(ascii: "Z"))
  }

  /// With `Z` or an offset, and up to nine digits of a second, of which three count. Leap seconds are refused, since
  /// they have no milliseconds of their own.
  public static func parse(_ text: String) -> Int? {
    var reader = FixedReader(text)
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
      let day = reader.number(2), reader.take("T"), let hour = reader.number(2), reader.take(":"),
      let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
      hour < 24, minute < 60, second < 60,
      let date = CivilDate(year: year, month: month, day: day), let fraction = fraction(&reader),
      let offset = offset(&reader), reader.isAtEnd
    else { return nil }
    let minutes = date.daysSince1970 * 1_440 + hour * 60 + minute - offset
    return (minutes * 60 + second) * 1_000 + fraction
  }

  private static func fraction(_ reader: inout FixedReader) -> Int? {
    guard reader.take(".") else { return 0 }
    var milliseconds = 0
    var digits = 0
    while digits < 9, let digit = reader.number(1) {
      if digits < 3 { milliseconds = milliseconds * 10 + digit }
      digits += 1
    }
    guard digits > 0 else { return nil }
    for _ in min(digits, 3)..<3 { milliseconds *= 10 }
    return milliseconds
  }

  /// Minutes ahead of UTC.
  private static func offset(_ reader: inout FixedReader) -> Int? {
    if reader.take("Z") { return 0 }
    let sign = reader.take("+") ? 1 : reader.take("-") ? -1 : 0
    guard sign != 0, let hours = reader.number(2), reader.take(":"), let minutes = reader.number(2), hours < 24,
      minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }
}
