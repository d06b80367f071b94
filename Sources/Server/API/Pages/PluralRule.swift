/// The plural categories of whole numbers (CLDR, as `Intl.PluralRules` has them). A language that is not named here has
/// `one` for 1 and `other`.
enum PluralRule {
  static func category(of count: Int, in language: String) -> String {
    let isMillions = count != 0 && count.isMultiple(of: 1_000_000)
    switch language.prefix(while: { $0 != "-" }) {
    case "id", "ja", "ko", "ms", "th", "vi", "zh": return "other"
    case "fr", "pt": return count <= 1 ? "one" : isMillions ? "many" : "other"
    case "ca", "es", "it": return count == 1 ? "one" : isMillions ? "many" : "other"
    case "ar": return arabic(count)
    case "cs", "sk": return count == 1 ? "one" : (2...4).contains(count) ? "few" : "other"
    case "pl": return count == 1 ? "one" : isFew(count) ? "few" : "many"
    case "be", "ru", "uk":
      return count % 10 == 1 && count % 100 != 11 ? "one" : isFew(count) ? "few" : "many"
    default: return count == 1 ? "one" : "other"
    }
  }

  private static func isFew(_ count: Int) -> Bool {
    (2...4).contains(count % 10) && !(12...14).contains(count % 100)
  }

  private static func arabic(_ count: Int) -> String {
    switch (count, count % 100) {
    case (0, _): "zero"
    case (1, _): "one"
    case (2, _): "two"
    case (_, 3...10): "few"
    case (_, 11...99): "many"
    default: "other"
    }
  }
}
