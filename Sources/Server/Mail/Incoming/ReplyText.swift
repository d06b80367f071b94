// The new text of a reply. Mail programs add the message that is answered, below or above, with a line that introduces it, and
// a signature. The rules know the words of the six languages of the app; a quote with `>` is recognized in each language.

import ParleyJSON

enum ReplyText {
  static func withoutQuotes(_ text: String) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(\.trimmedSpace)
    if let end = lines.indices.first(where: { beginsQuotedMessage(lines[$0...]) || lines[$0] == "--" }) {
      lines = Array(lines[..<end])
    }
    lines = withoutTrailingQuote(lines)
    lines = withoutLeadingQuote(lines)
    trim(&lines)
    while let last = lines.last, isMobileSignature(last) {
      lines.removeLast()
      trim(&lines)
    }
    return lines.joined(separator: "\n")
  }

  // MARK: Quotes with `>`

  private static let maxIntroductionLines = 3
  private static let maxIntroductionScalars = 400

  private static func withoutTrailingQuote(_ lines: [String]) -> [String] {
    var lines = lines
    trim(&lines)
    let count = lines.count
    while let last = lines.last, last.isEmpty || last.hasPrefix(">") { lines.removeLast() }
    let hasQuote = lines.count < count
    trim(&lines)
    // Without a quote, the line needs the words of an introduction.
    let length = introductionLength(lines.suffix(maxIntroductionLines), needsWords: !hasQuote)
    lines.removeLast(length)
    return lines
  }

  /// An answer below the quote.
  private static func withoutLeadingQuote(_ lines: [String]) -> [String] {
    let start = lines.firstIndex { !$0.isEmpty } ?? lines.endIndex
    guard let quote = lines[start...].firstIndex(where: { $0.hasPrefix(">") }) else { return lines }
    let before = lines[start..<quote].filter { !$0.isEmpty }
    guard 1...maxIntroductionLines ~= before.count, introductionLength(before[...], needsWords: false) == before.count
    else { return lines }
    let rest = lines[quote...].drop { $0.isEmpty || $0.hasPrefix(">") }
    return rest.isEmpty ? lines : Array(rest)
  }

  /// The number of lines at the end that introduce a quote, such as `On Monday, Ada wrote:`.
  private static func introductionLength(_ lines: ArraySlice<String>, needsWords: Bool) -> Int {
    var joined = ""
    var found = 0
    for (index, line) in lines.reversed().enumerated() {
      guard !line.isEmpty, !line.hasPrefix(">") else { break }
      joined = joined.isEmpty ? line : "\(line) \(joined)"
      guard joined.unicodeScalars.count <= maxIntroductionScalars, isIntroduction(joined, needsWords: needsWords) else {
        if index == 0, !endsWithColon(joined) { return 0 }
        continue
      }
      found = index + 1
      if begins(joined, with: introductions) || joined.first?.isNumber == true { return found }
    }
    return found
  }

  private static func endsWithColon(_ text: String) -> Bool { text.hasSuffix(":") || text.hasSuffix("：") }

  private static func isIntroduction(_ text: String, needsWords: Bool) -> Bool {
    guard endsWithColon(text) else { return false }
    let hasVerb = verbs.contains { text.contains($0) }
    let hasDigit = text.contains { $0.isNumber }
    return needsWords ? hasVerb && hasDigit : hasVerb || text.contains("@") && hasDigit
  }

  private static let introductions = ["On ", "Am ", "Le ", "El ", "في "]
  private static let verbs = [
    "wrote", "schrieb", "a écrit", "escribió", "のメール", "書きました", "のメッセージ", "كتب", "كتابة",
  ]

  // MARK: Quotes without `>`

  /// Outlook and others put the header of the message before it, often under a line.
  private static func beginsQuotedMessage(_ lines: ArraySlice<String>) -> Bool {
    guard let line = lines.first, !line.isEmpty else { return false }
    if isSeparator(line) { return true }
    let next = line.allSatisfy { $0 == "_" } && line.count >= minSeparator ? lines.dropFirst() : lines
    return beginsHeader(next.drop(while: \.isEmpty))
  }

  private static let minSeparator = 20
  private static let minDashes = 3
  private static let maxSeparatorScalars = 80

  /// `-----Original Message-----`, in any language.
  private static func isSeparator(_ line: String) -> Bool {
    let dashes = line.prefix { $0 == "-" }.count
    guard dashes >= minDashes, line.unicodeScalars.count <= maxSeparatorScalars else { return false }
    let rest = line.dropFirst(dashes)
    let closing = rest.reversed().prefix { $0 == "-" }.count
    return closing >= minDashes && rest.dropLast(closing).contains { $0.isLetter }
  }

  private static let headerLines = 6
  private static let minOtherLabels = 2

  private static func beginsHeader(_ lines: ArraySlice<String>) -> Bool {
    guard let first = lines.first, isLabel(first, of: fromLabels) else { return false }
    return lines.dropFirst().prefix(headerLines).filter { isLabel($0, of: otherLabels) }.count >= minOtherLabels
  }

  private static func isLabel(_ line: String, of labels: [String]) -> Bool {
    let plain = line.drop { $0 == "*" || $0 == " " }
    let label = plain.prefix { $0 != ":" && $0 != "：" && $0 != "*" }
    guard label.count < plain.count else { return false }
    return labels.contains(label.lowercased().trimmedSpace)
  }

  private static let fromLabels = ["from", "von", "de", "差出人", "送信者", "من"]
  private static let otherLabels = [
    "sent", "date", "to", "cc", "subject", "gesendet", "datum", "an", "betreff", "envoyé", "à", "objet", "enviado",
    "enviado el", "fecha", "para", "asunto", "送信日時", "日時", "日付", "宛先", "件名", "تاريخ الإرسال", "تم الإرسال", "التاريخ",
    "إلى", "الموضوع",
  ]

  // MARK: Signatures

  private static let maxSignatureScalars = 80

  /// The line that phones add.
  private static func isMobileSignature(_ line: String) -> Bool {
    guard line.unicodeScalars.count <= maxSignatureScalars else { return false }
    return begins(line, with: mobileBegins) || mobileEnds.contains { line.hasSuffix($0) }
  }

  private static let mobileBegins = [
    "Sent from my ", "Sent from Outlook", "Get Outlook for ", "Von meinem ", "Gesendet von ", "Gesendet mit ",
    "Envoyé de mon ", "Envoyé à partir de ", "Enviado desde mi ", "Enviado desde ", "أرسلت من ", "أُرسلت من ",
    "تم الإرسال من ",
  ]
  private static let mobileEnds = ["から送信", "から送信されました"]

  private static func begins(_ line: String, with words: [String]) -> Bool { words.contains { line.hasPrefix($0) } }

  private static func trim(_ lines: inout [String]) {
    while lines.last?.isEmpty == true { lines.removeLast() }
    lines = Array(lines.drop(while: \.isEmpty))
  }
}

extension StringProtocol {
  /// Without white space at the end.
  fileprivate var trimmedSpace: String {
    guard let last = lastIndex(where: { !$0.isWhitespace && $0 != "\u{200e}" && $0 != "\u{200f}" }) else { return "" }
    return String(self[...last])
  }
}
