/// Human-readable numbers.
enum Amount {
  /// "1 message", "1,024 messages".
  static func count(_ number: Int, _ word: String, _ plural: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? word : plural ?? "\(word)s")"
  }

  /// "812 bytes", "4.2 MB".
  static func bytes(_ number: Int) -> String {
    var rest = Double(number)
    for unit in ["kB", "MB", "GB", "TB"] {
      rest /= 1_000
      // 999.95 would round to 1000.
      if rest < 999.95 { return number < 1_000 ? "\(number) bytes" : "\((rest * 10).rounded() / 10) \(unit)" }
    }
    return "\((rest * 10).rounded() / 10) TB"
  }

  /// "3 minutes", "2 days", of milliseconds.
  static func duration(_ milliseconds: Int64) -> String {
    let seconds = max(0, Int(milliseconds / 1_000))
    for (unit, length) in [("day", 86_400), ("hour", 3_600), ("minute", 60)] where seconds >= length {
      return count(seconds / length, unit)
    }
    return count(seconds, "second")
  }

  static func grouped(_ number: Int) -> String {
    let digits = String(number)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }
}
