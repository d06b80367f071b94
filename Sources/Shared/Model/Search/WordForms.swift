/// Other forms of a word: number, and in English the endings of verbs. A few rules for each language, without a dictionary: a form
/// that no text has costs a search nothing.
///
/// `Public/js/parley/wordforms.js` has the same rules, and `Tests/Contract/wordforms.json` the cases of both.
enum WordForms {
  /// Forms of one word.
  static let maxForms = 24
  /// A shorter word has no other forms, nor has a stem.
  static let minLength = 3

  /// - Parameters:
  ///   - word: folded as in the index, so without case and accents.
  ///   - language: its code, such as `de` or `de-AT`. Other languages than these have no rules.
  static func forms(of word: String, in language: String) -> [String] {
    guard word.utf8.count >= minLength, word.utf8.allSatisfy({ $0 &- 0x61 < 26 }) else { return [] }
    var found: [String] = []
    let rules: (stems: (String) -> [String], grow: (String) -> [String])
    switch language.prefix(while: { $0 != "-" }).lowercased() {
    case "en": rules = (englishStems, english)
    case "de": rules = (germanStems, german)
    case "fr": rules = (frenchStems, french)
    case "es": rules = (spanishStems, spanish)
    default: return []
    }
    let stems = [word] + rules.stems(word).filter { $0.utf8.count >= minLength }
    for form in stems + stems.flatMap(rules.grow) where form != word && !found.contains(form) { found.append(form) }
    return Array(found.prefix(maxForms))
  }

  // MARK: English

  private static func englishStems(_ word: String) -> [String] {
    if let stem = word.without("ied") { return [stem + "y"] }
    if let stem = word.without("ing") ?? word.without("ed") { return [stem, stem + "e"] + undoubled(stem) }
    return englishSingulars(word)
  }

  private static func englishSingulars(_ word: String) -> [String] {
    if let stem = word.without("ies") { return [stem + "y"] }
    if let stem = word.without("ves") { return [stem + "f", stem + "fe", stem + "ve"] }
    if word.ends(in: "ses", "xes", "zes", "ches", "shes", "oes") {
      return [word.without("es") ?? "", word.without("s") ?? ""]
    }
    if word.ends(in: "ss", "us", "is") { return [] }
    return word.without("s").map { [$0] } ?? []
  }

  private static func english(_ stem: String) -> [String] {
    englishPlurals(stem) + englishVerbs(stem)
  }

  private static func englishPlurals(_ stem: String) -> [String] {
    if stem.ends(in: "s", "x", "z", "ch", "sh") { return [stem + "es"] }
    if stem.ends(in: "o") { return [stem + "s", stem + "es"] }
    if let base = stem.without("y"), !base.endsInVowel { return [base + "ies"] }
    if let base = stem.without("fe") ?? stem.without("f") { return [stem + "s", base + "ves"] }
    return [stem + "s"]
  }

  private static func englishVerbs(_ stem: String) -> [String] {
    if stem.ends(in: "ing", "ed") { return [] }
    if let base = stem.without("e"), !base.ends(in: "e") { return [base + "ing", base + "ed"] }
    if let base = stem.without("y"), !base.endsInVowel { return [stem + "ing", base + "ied"] }
    guard let last = stem.last, stem.endsInDoubling else { return [stem + "ing", stem + "ed"] }
    return [stem + "ing", stem + "ed", "\(stem)\(last)ing", "\(stem)\(last)ed"]
  }

  private static func undoubled(_ stem: String) -> [String] {
    guard let last = stem.last, stem.dropLast().last == last else { return [] }
    return [String(stem.dropLast())]
  }

  // MARK: German

  /// Umlauts are folded, so *Garten* and *Gärten* are the same word already.
  private static let germanEndings = ["ern", "en", "er", "es", "e", "n", "s"]

  private static func germanStems(_ word: String) -> [String] {
    let stem = germanEndings.lazy.compactMap { word.without($0) }.first { $0.utf8.count > minLength }
    return [stem, word.without("en").map { $0 + "e" }].compactMap(\.self)
  }

  private static func german(_ stem: String) -> [String] {
    stem.ends(in: "e") ? [stem + "n", stem + "s"] : ["e", "en", "er", "n", "s", "es", "ern"].map { stem + $0 }
  }

  // MARK: French

  private static func frenchStems(_ word: String) -> [String] {
    if let stem = word.without("aux") { return [stem + "al", stem + "au"] }
    if word.ends(in: "ss") { return [] }
    return [word.without("es"), word.without("s"), word.without("x"), word.without("e")].compactMap(\.self)
  }

  private static func french(_ stem: String) -> [String] {
    if let base = stem.without("al") { return [base + "aux", stem + "e", stem + "es", stem + "s"] }
    if stem.ends(in: "au", "eu", "ou") { return [stem + "x", stem + "s"] }
    if stem.ends(in: "s", "x") { return [] }
    return stem.ends(in: "e") ? [stem + "s"] : [stem + "s", stem + "e", stem + "es"]
  }

  // MARK: Spanish

  private static func spanishStems(_ word: String) -> [String] {
    if let stem = word.without("ces") { return [stem + "z"] }
    if let stem = word.without("es"), !stem.endsInVowel { return [stem, stem + "e"] }
    return word.without("s").map { [$0] } ?? []
  }

  private static func spanish(_ stem: String) -> [String] {
    if let base = stem.without("z") { return [base + "ces"] }
    if stem.ends(in: "s", "x") { return [] }
    return [stem + (stem.endsInVowel ? "s" : "es")]
  }
}

extension String {
  /// The stem before an ending; nil without the ending, or with a stem that is too short.
  fileprivate func without(_ ending: String) -> String? {
    guard hasSuffix(ending), utf8.count - ending.utf8.count >= WordForms.minLength - 1 else { return nil }
    return String(dropLast(ending.count))
  }

  fileprivate func ends(in endings: String...) -> Bool { endings.contains { hasSuffix($0) } }

  fileprivate var endsInVowel: Bool { last.map { "aeiou".contains($0) } ?? false }

  /// A short word of consonant, vowel, consonant, such as *stop*, whose last letter is doubled before `-ing`.
  fileprivate var endsInDoubling: Bool {
    let letters = Array(self)
    guard (3...4).contains(letters.count), let last = letters.last, !"aeiouwxy".contains(last) else { return false }
    return "aeiou".contains(letters[letters.count - 2]) && !"aeiou".contains(letters[letters.count - 3])
  }
}
