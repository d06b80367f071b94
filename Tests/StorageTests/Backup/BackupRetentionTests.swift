import Foundation
import Testing

@testable import Storage

@Suite struct BackupRetentionTests {
  private static let day: Int64 = 86_400_000
  /// 1 January 2026, 3:00.
  private static let start: Int64 = 1_767_236_400_000

  @Test(arguments: [
    ("7", BackupRetention.newest(7)), ("7d,4w,6m", .periods(days: 7, weeks: 4, months: 6)),
    ("6m", .periods(days: 0, weeks: 0, months: 6)), ("4w, 7d", .periods(days: 7, weeks: 4, months: 0)),
    ("0", nil), ("", nil), ("7x", nil), ("d", nil), ("7d,", nil), ("7d,3d", nil), ("1001d", nil), ("-1d", nil),
  ])
  func `a text is a number or periods`(text: String, retention: BackupRetention?) {
    #expect(BackupRetention(text) == retention)
  }

  /// The days since the start whose backups stay after 200 days with a backup each night.
  private static func survivors(_ text: String, days: Int64 = 200, perDay: Int64 = 1) throws -> [Double] {
    let retention = try #require(BackupRetention(text))
    var times: [Int64] = []
    for index in 0..<days * perDay {
      times.append(start + index * day / perDay)
      let kept = retention.kept(times)
      times = times.indices.filter { kept.contains($0) }.map { times[$0] }
    }
    return times.map { Double($0 - start) / Double(day) }
  }

  /// The calendar of Foundation says which backup is the last of its month.
  private static func expected(days: Int, weeks: Int, months: Int) throws -> [Double] {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    let all = (0..<200).map { Date(timeIntervalSince1970: Double(start) / 1_000 + Double($0) * 86_400) }
    var kept: Set<Int> = []
    let periods: [(Int, Set<Calendar.Component>)] = [
      (days, [.year, .month, .day]), (weeks, [.yearForWeekOfYear, .weekOfYear]), (months, [.year, .month]),
    ]
    for (count, units) in periods {
      var seen: [DateComponents] = []
      for index in all.indices.reversed() {
        let period = calendar.dateComponents(units, from: all[index])
        guard !seen.contains(period), seen.count < count else { continue }
        seen.append(period)
        kept.insert(index)
      }
    }
    return kept.sorted().map(Double.init)
  }

  @Test func `200 nights keep exactly the policy's backups`() throws {
    #expect(try Self.survivors("7d,4w,6m") == Self.expected(days: 7, weeks: 4, months: 6))
    #expect(try Self.survivors("3d,10w") == Self.expected(days: 3, weeks: 10, months: 0))
    #expect(try Self.survivors("6m") == Self.expected(days: 0, weeks: 0, months: 6))
    #expect(try Self.survivors("5") == [195, 196, 197, 198, 199])
  }

  @Test func `of several backups a day the last one stays, and all of the number`() throws {
    #expect(try Self.survivors("2d", days: 5, perDay: 4) == [3.75, 4.75])
    #expect(try Self.survivors("3", days: 5, perDay: 4) == [4.25, 4.5, 4.75])
  }

  @Test func `nights without a backup do not use up periods`() throws {
    let retention = try #require(BackupRetention("3d"))
    let times = [0, 10, 20, 40].map { Self.start + $0 * Self.day }
    #expect(retention.kept(times) == [1, 2, 3])
    #expect(retention.kept([]) == [])
  }
}
