import ParleyJSON
import ParleyModel
import Testing

@Suite struct QuietHoursTests {
  /// Local time on a day since Thursday, 1970-01-01.
  private func time(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Int { day * 86_400 + hour * 3_600 + minute * 60 }

  @Test func `hours within a day`() {
    let hours = QuietHours(from: 13 * 60, to: 14 * 60 + 30, timeZone: "UTC")
    #expect(!hours.contain(local: time(4, 12, 59)) && hours.contain(local: time(4, 13)))
    #expect(hours.contain(local: time(4, 14, 29)) && !hours.contain(local: time(4, 14, 30)))
    #expect(hours.contain(local: time(-3, 13)) && !hours.contain(local: time(-3, 14, 30)))
  }

  @Test func `hours over midnight belong to the day on which they begin`() {
    // Day 1 is a Friday.
    let hours = QuietHours(from: 22 * 60, to: 7 * 60, days: [.friday], timeZone: "UTC")
    #expect(!hours.contain(local: time(1, 6)) && !hours.contain(local: time(1, 21, 59)))
    #expect(hours.contain(local: time(1, 22)) && hours.contain(local: time(1, 23, 59)))
    #expect(hours.contain(local: time(2, 0)) && hours.contain(local: time(2, 6, 59)))
    #expect(!hours.contain(local: time(2, 7)) && !hours.contain(local: time(2, 22)))
    #expect(hours.contain(local: time(-6, 22)) && hours.contain(local: time(-5, 6)))
  }

  @Test func `weekdays`() {
    #expect(QuietHours.Weekday(daysSince1970: 0) == .thursday && QuietHours.Weekday(daysSince1970: -1) == .wednesday)
    #expect(QuietHours.Weekday(daysSince1970: 3) == .sunday && QuietHours.Weekday(daysSince1970: -3) == .monday)
  }

  @Test func `json is read and written`() throws {
    let text = #"{"from":"22:05","to":"07:00","days":["saturday","monday"],"time_zone":"Europe/Berlin"}"#
    let hours = try QuietHours(json: JSONValue(parsing: Array(text.utf8)))
    #expect(hours == QuietHours(from: 1_325, to: 420, days: [.monday, .saturday], timeZone: "Europe/Berlin"))
    #expect(QuietHours(hours.stored) == hours)
    #expect(
      hours.stored
        == .text(#"{"from":"22:05","to":"07:00","days":["monday","saturday"],"time_zone":"Europe/Berlin"}"#))
    let daily = #"{"from":"22:05","to":"07:00","time_zone":"UTC"}"#
    #expect(try QuietHours(json: JSONValue(parsing: Array(daily.utf8))).days.count == 7)
  }

  @Test(arguments: ["24:00", "7:00", "07:60", "0700", "", "07:00:00", "٠٧:٠٠", "-1:00"])
  func `no time of the day`(clock: String) {
    let text = #"{"from":"\#(clock)","to":"07:01","time_zone":"UTC"}"#
    #expect(throws: JSONError.self) { try QuietHours(json: JSONValue(parsing: Array(text.utf8))) }
  }
}
