import Foundation
import Testing

@testable import Storage

/// Compares the offsets with those of Foundation, which reads the same files.
@Suite struct ZoneRulesTests {
  private static let zones = [
    "Europe/Berlin", "Europe/Dublin", "Europe/London", "America/New_York", "America/St_Johns", "America/Sao_Paulo",
    "America/Santiago", "America/Nuuk", "Africa/Casablanca", "Africa/Cairo", "Asia/Kolkata", "Asia/Kathmandu",
    "Asia/Jerusalem", "Asia/Tehran", "Asia/Tokyo", "Australia/Lord_Howe", "Australia/Sydney", "Pacific/Apia",
    "Pacific/Chatham", "Antarctica/Troll", "Etc/UTC", "Etc/GMT+12",
  ]

  @Test(arguments: zones) func `offsets are those of Foundation`(name: String) throws {
    let rules = try #require(ZoneFiles.rules(of: name))
    let zone = try #require(TimeZone(identifier: name))
    // Every 41 hours from 1970 to 2037, where Foundation reads transitions.
    for time in stride(from: 0, to: 2_114_380_800, by: 147_600) {
      let expected = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
      guard rules.offset(at: time) != expected else { continue }
      Issue.record("\(name) at \(time): \(rules.offset(at: time)), expected \(expected)")
      return
    }
    // The seconds around each change of the clock.
    var date = Date(timeIntervalSince1970: 1_700_000_000)
    while let next = zone.nextDaylightSavingTimeTransition(after: date), next < Date(timeIntervalSince1970: 2e9) {
      let time = Int(next.timeIntervalSince1970)
      for near in [time - 1, time] {
        let expected = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(near)))
        #expect(rules.offset(at: near) == expected, "\(name) \(near)")
      }
      date = next
    }
  }

  /// After the last transition of a file.
  @Test func `the yearly rule`() throws {
    let berlin = try #require(YearlyRule(Array("CET-1CEST,M3.5.0,M10.5.0/3".utf8)))
    // 2040-03-25 and 2040-10-28, 01:00 UTC.
    #expect(berlin.offset(at: 2_216_249_999) == 3_600 && berlin.offset(at: 2_216_250_000) == 7_200)
    #expect(berlin.offset(at: 2_234_998_799) == 7_200 && berlin.offset(at: 2_234_998_800) == 3_600)
    let south = try #require(YearlyRule(Array("AEST-10AEDT,M10.1.0,M4.1.0/3".utf8)))
    #expect(south.offset(at: 1_767_225_600) == 39_600 && south.offset(at: 1_782_864_000) == 36_000)
    let named = try #require(YearlyRule(Array("<-02>2<-01>,M3.5.0/-1,M10.5.0/0".utf8)))
    #expect(named.offset(at: 1_767_225_600) == -7_200 && named.offset(at: 1_782_864_000) == -3_600)
    #expect(try #require(YearlyRule(Array("IST-5:30".utf8))).offset(at: 0) == 19_800)
    let julian = try #require(YearlyRule(Array("A0B,J60/0,J61/0".utf8)))
    // 1 March, also in a leap year.
    #expect(julian.offset(at: 1_709_251_200) == 3_600 && julian.offset(at: 1_709_251_199) == 0)
    #expect(julian.offset(at: 1_740_787_200) == 3_600 && julian.offset(at: 1_740_873_600) == 0)
    let ordinal = try #require(YearlyRule(Array("A0B,0/0,1/0".utf8)))
    #expect(ordinal.offset(at: 1_767_225_600) == 3_600 && ordinal.offset(at: 1_767_312_000) == 0)
  }

  @Test(arguments: ["", "1", "CET", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0", "CET-1x", "<CET-1"])
  func `no rule`(text: String) { #expect(YearlyRule(Array(text.utf8)) == nil) }

  @Test func `files that are cut or damaged are refused or read`() throws {
    let file = try #require(ZoneFiles.read("Europe/Berlin"))
    for count in stride(from: 0, to: file.count - 1, by: 7) { _ = ZoneRules(Array(file.prefix(count))) }
    #expect(ZoneRules(Array(file.prefix(file.count / 2))) == nil)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      var damaged = file
      for _ in 0..<3 { damaged[Int.random(in: 0..<file.count, using: &random)] = .random(in: 0...255, using: &random) }
      _ = ZoneRules(damaged)?.offset(at: .random(in: -4_000_000_000...4_000_000_000, using: &random))
    }
  }
}
