/// The scheduled backups that stay: a number of the newest ones, or the newest of each of the last days, weeks and months.
public enum BackupRetention: Sendable, Equatable {
  case newest(Int)
  case periods(days: Int, weeks: Int, months: Int)

  private static let counts = 1...1_000
  private static let millisecondsPerDay: Int64 = 86_400_000

  /// Parses `7`, or periods such as `7d,4w,6m`. Nil for another text.
  public init?(_ text: String) {
    if let count = Int(text) {
      guard Self.counts.contains(count) else { return nil }
      self = .newest(count)
      return
    }
    var found: [Character: Int] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let part = part.drop { $0 == " " }
      guard let unit = part.last, "dwm".contains(unit), let count = Int(part.dropLast()), Self.counts.contains(count),
        found.updateValue(count, forKey: unit) == nil
      else { return nil }
    }
    self = .periods(days: found["d"] ?? 0, weeks: found["w"] ?? 0, months: found["m"] ?? 0)
  }

  /// The positions of the backups that stay.
  ///
  /// - Parameter times: of all backups in milliseconds since 1970, the oldest first.
  func kept(_ times: [Int64]) -> Set<Int> {
    switch self {
    case .newest(let count): return Set(times.indices.suffix(count))
    case .periods(let days, let weeks, let months):
      // Without any period the newest one stays.
      var kept = Set(times.indices.suffix(1))
      for (count, period) in [(days, Self.day), (weeks, Self.week), (months, Self.month)] {
        var seen: Set<Int64> = []
        for index in times.indices.reversed() where seen.count < count {
          if seen.insert(period(times[index])).inserted { kept.insert(index) }
        }
      }
      return kept
    }
  }

  private static func day(_ time: Int64) -> Int64 { time / millisecondsPerDay }

  /// Weeks begin on Monday; 1 January 1970 was a Thursday.
  private static func week(_ time: Int64) -> Int64 { (day(time) + 3) / 7 }

  /// The number of the month: 12 for each year of the Gregorian calendar.
  private static func month(_ time: Int64) -> Int64 {
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, in eras of 400 years.
    let shifted = day(time) + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    return (year + era * 400) * 12 + monthFromMarch
  }
}
