import ParleyJSON

/// The offsets from UTC of a time zone: a TZif file (RFC 9636) of version 2 or later.
public struct ZoneRules: Sendable {
  /// Seconds since 1970 from which an offset holds, and the offset in seconds.
  private var transitions: [(time: Int, offset: Int)] = []
  /// Before the first transition.
  private let first: Int
  /// After the last transition; nil without a rule.
  private let rule: YearlyRule?

  /// Nil for a file that is damaged or of version 1.
  init?(_ file: [UInt8]) {
    guard let old = Header(file, at: 0), old.version >= UInt8(ascii: "2"),
      let header = Header(file, at: Header.byteCount + old.dataByteCount(timeBytes: 4))
    else { return nil }
    let times = header.end
    let indexes = times + header.timeCount * 8
    let types = indexes + header.timeCount
    let end = header.end + header.dataByteCount(timeBytes: 8)
    guard header.typeCount > 0, end < file.count, file[end] == UInt8(ascii: "\n") else { return nil }
    func offset(_ type: Int) -> Int { Int(truncatingIfNeeded: file.bigEndian(at: types + type * 6, count: 4)) }
    first = offset(0)
    for index in 0..<header.timeCount {
      let type = Int(file[indexes + index])
      guard type < header.typeCount else { return nil }
      transitions.append((file.bigEndian(at: times + index * 8, count: 8), offset(type)))
    }
    let footer = file[(end + 1)...].prefix { $0 != UInt8(ascii: "\n") }
    rule = YearlyRule(Array(footer))
    guard rule != nil || footer.isEmpty else { return nil }
  }

  /// - Parameter time: seconds since 1970.
  public func offset(at time: Int) -> Int {
    guard let last = transitions.last else { return rule?.offset(at: time) ?? first }
    if time >= last.time { return rule?.offset(at: time) ?? last.offset }
    var (low, high) = (0, transitions.count)
    while low < high {
      let middle = (low + high) / 2
      if transitions[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : transitions[low - 1].offset
  }

  private struct Header {
    static let byteCount = 44

    let version: UInt8
    let (utcCount, standardCount, leapCount, timeCount, typeCount, nameByteCount): (Int, Int, Int, Int, Int, Int)
    let end: Int

    init?(_ file: [UInt8], at start: Int) {
      guard start + Self.byteCount <= file.count, file[start..<start + 4].elementsEqual("TZif".utf8) else { return nil }
      version = file[start + 4]
      func count(_ index: Int) -> Int { file.bigEndian(at: start + 20 + index * 4, count: 4) }
      (utcCount, standardCount, leapCount) = (count(0), count(1), count(2))
      (timeCount, typeCount, nameByteCount) = (count(3), count(4), count(5))
      let counts = [utcCount, standardCount, leapCount, timeCount, typeCount, nameByteCount]
      guard counts.allSatisfy({ 0...file.count ~= $0 }) else { return nil }
      end = start + Self.byteCount
    }

    func dataByteCount(timeBytes: Int) -> Int {
      timeCount * (timeBytes + 1) + typeCount * 6 + nameByteCount + leapCount * (timeBytes + 4) + standardCount
        + utcCount
    }
  }
}

extension [UInt8] {
  /// A signed number.
  fileprivate func bigEndian(at start: Int, count: Int) -> Int {
    var number = Int(Int8(bitPattern: self[start]))
    for byte in self[start + 1..<start + count] { number = number << 8 | Int(byte) }
    return number
  }
}

/// The rule of a `TZ` variable of POSIX, as in `CET-1CEST,M3.5.0,M10.5.0/3`.
struct YearlyRule: Sendable {
  private let standard: Int
  private let summer: (offset: Int, from: Change, to: Change)?

  /// A day of the year and a time of it.
  private struct Change {
    enum Day {
      /// 1–365, without 29 February.
      case julian(Int)
      /// 0–365.
      case ordinal(Int)
      /// 0 is Sunday; the fifth week is the last one.
      case weekday(month: Int, week: Int, day: Int)
    }

    let day: Day
    let seconds: Int

    /// Seconds since 1970 of local time.
    func time(in year: Int) -> Int {
      let newYear = Self.days(year, 1, 1)
      let days: Int
      switch day {
      case .julian(let number):
        let isLeap = Self.days(year, 3, 1) - newYear == 60
        days = newYear + number - (isLeap && number >= 60 ? 0 : 1)
      case .ordinal(let number): days = newYear + number
      case .weekday(let month, let week, let day):
        let first = Self.days(year, month, 1)
        let next = month == 12 ? Self.days(year + 1, 1, 1) : Self.days(year, month + 1, 1)
        let weekday = ((first + 4) % 7 + 7) % 7
        var found = first + (day - weekday + 7) % 7 + (week - 1) * 7
        if found >= next { found -= 7 }
        days = found
      }
      return days * 86_400 + seconds
    }

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
      CivilDate(year: year, month: month, day: day)?.daysSince1970 ?? 0
    }
  }

  /// Nil for another text.
  init?(_ text: [UInt8]) {
    var parser = Parser(text)
    guard parser.skipName(), let west = parser.time() else { return nil }
    standard = -west
    guard !parser.isAtEnd else {
      summer = nil
      return
    }
    guard parser.skipName() else { return nil }
    var offset = standard + 3_600
    if parser.next != UInt8(ascii: ",") {
      guard let west = parser.time() else { return nil }
      offset = -west
    }
    guard parser.skip(","), let from = Self.change(&parser), parser.skip(","), let to = Self.change(&parser),
      parser.isAtEnd
    else { return nil }
    summer = (offset, from, to)
  }

  func offset(at time: Int) -> Int {
    guard let summer else { return standard }
    let local = time + standard
    let year = CivilDate(daysSince1970: (local >= 0 ? local : local - 86_399) / 86_400).year
    let (start, end) = (summer.from.time(in: year) - standard, summer.to.time(in: year) - summer.offset)
    let isSummer = start < end ? start <= time && time < end : time < end || start <= time
    return isSummer ? summer.offset : standard
  }

  private static func change(_ parser: inout Parser) -> Change? {
    let day: Change.Day
    if parser.skip("M") {
      guard let month = parser.number(1...12), parser.skip("."), let week = parser.number(1...5), parser.skip("."),
        let weekday = parser.number(0...6)
      else { return nil }
      day = .weekday(month: month, week: week, day: weekday)
    } else if parser.skip("J") {
      guard let number = parser.number(1...365) else { return nil }
      day = .julian(number)
    } else {
      guard let number = parser.number(0...365) else { return nil }
      day = .ordinal(number)
    }
    guard parser.skip("/") else { return Change(day: day, seconds: 7_200) }
    return parser.time().map { Change(day: day, seconds: $0) }
  }

  private struct Parser {
    private let text: [UInt8]
    private var position = 0

    init(_ text: [UInt8]) { self.text = text }

    var next: UInt8? { position < text.count ? text[position] : nil }
    var isAtEnd: Bool { position == text.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard next == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }

    /// Letters, or anything in `<>`.
    mutating func skipName() -> Bool {
      let start = position
      if skip("<") {
        while let byte = next, byte != UInt8(ascii: ">") { position += 1 }
        return skip(">")
      }
      while let byte = next, 65...90 ~= byte || 97...122 ~= byte { position += 1 }
      return position > start
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int? {
      let start = position
      var value = 0
      while let byte = next, 48...57 ~= byte, position - start < 3 {
        value = value * 10 + Int(byte - 48)
        position += 1
      }
      return position > start && range ~= value ? value : nil
    }

    /// `[+|-]hh[:mm[:ss]]`, in seconds.
    mutating func time() -> Int? {
      let isNegative = skip("-")
      if !isNegative { _ = skip("+") }
      guard var seconds = number(0...167).map({ $0 * 3_600 }) else { return nil }
      for unit in [60, 1] where skip(":") {
        guard let part = number(0...59) else { return nil }
        seconds += part * unit
      }
      return isNegative ? -seconds : seconds
    }
  }
}
