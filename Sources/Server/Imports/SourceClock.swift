import ParleyJSON

/// Times of a source, checked: a message from the future would stand above all later ones.
struct SourceClock {
  /// Milliseconds since 1970.
  let now: Int64

  /// The first millisecond of 1990: older than every program that can be imported.
  private static let earliest: Int64 = 631_152_000_000

  /// RFC 3339.
  func time(_ text: String?, of what: String) throws(ImportFault) -> Int64 {
    guard let text, let time = Timestamp.parse(text) else { throw bad(text ?? "none", what) }
    return try checked(Int64(time), text, what)
  }

  /// Seconds with a fraction, as in Slack.
  func seconds(_ text: String, of what: String) throws(ImportFault) -> Int64 {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = parts.first, (1...12).contains(whole.utf8.count), let seconds = Int64(whole),
      seconds >= 0, parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } })
    else { throw bad(text, what) }
    let fraction = (parts.count == 2 ? String(parts[1].prefix(3)) : "") + "000"
    return try checked(seconds * 1_000 + (Int64(fraction.prefix(3)) ?? 0), text, what)
  }

  /// `2024-01-31 12:00:00.123` of a dump, in UTC.
  func dumped(_ text: String?, of what: String) throws(ImportFault) -> Int64 {
    guard let text else { throw bad("none", what) }
    var iso = text.replacing(" ", with: "T")
    if iso.hasSuffix("+00") { iso.removeLast(3) }
    return try time(iso + "Z", of: what)
  }

  private func checked(_ time: Int64, _ text: String, _ what: String) throws(ImportFault) -> Int64 {
    guard time >= Self.earliest, time <= now else { throw bad(text, what) }
    return time
  }

  private func bad(_ text: String, _ what: String) -> ImportFault {
    let shown = String(text.prefix(40)).filter { !$0.isNewline }
    return ImportFault(
      "\(what) has the date “\(shown)”, which is none of the past. Check the clock, and make a new export.")
  }
}
