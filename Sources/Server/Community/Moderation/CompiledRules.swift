// The enabled rules of the staff, compiled for the check of new messages. The words of all rules are one trie over
// numbered words, and the domains one table, each with the set of its rules as bits. So a text is read once for all
// rules: each of its words costs one look-up, and at most `Bounds.rulePhraseWords` steps if a phrase begins with it.

import ParleyJSON
import ParleyModel
import Synchronization

/// A set of rules, by their position.
private typealias RuleBits = UInt64

struct CompiledRules: Sendable {
  /// The strongest action first.
  private var rules: [ModerationRule] = []
  private var words = PhraseTrie()
  private var domains: [String: RuleBits] = [:]

  init(_ enabled: [ModerationRule]) {
    rules = enabled.sorted { ($0.action.strength, $1.id) > ($1.action.strength, $0.id) }
    for (index, rule) in rules.prefix(RuleBits.bitWidth).enumerated() {
      let bit: RuleBits = 1 << RuleBits(index)
      for word in rule.words { words.add(SearchText.words(of: word, isQuery: true), bit) }
      for domain in rule.domains { domains[domain, default: 0] |= bit }
    }
  }

  var isEmpty: Bool { rules.isEmpty }

  /// The facts of a message that the rules examine. Facts that need a query are read only if a rule depends on them alone.
  struct Subject {
    var text: String
    var links: [String]
    var mentionCount: Int
    var hasPicture: () throws(Refusal) -> Bool
    var isAmongFirst: (Int) throws(Refusal) -> Bool
  }

  /// The matching rule with the strongest action.
  func match(_ subject: Subject) throws(Refusal) -> ModerationRule? {
    guard !rules.isEmpty else { return nil }
    let (worded, linked) = (words.matches(in: subject.text), domains(of: subject.links))
    for (index, rule) in rules.enumerated() {
      let bit: RuleBits = 1 << RuleBits(index)
      guard rule.words.isEmpty || worded & bit != 0, rule.domains.isEmpty || linked & bit != 0,
        subject.mentionCount >= rule.minMentions
      else { continue }
      if rule.hasPicture, try !subject.hasPicture() { continue }
      if rule.firstPosts > 0, try !subject.isAmongFirst(rule.firstPosts) { continue }
      return rule
    }
    return nil
  }

  private func domains(of links: [String]) -> RuleBits {
    guard !domains.isEmpty else { return 0 }
    var found: RuleBits = 0
    for link in links {
      guard var domain = LinkHost.of(link)?[...] else { continue }
      while true {
        found |= domains[String(domain), default: 0]
        guard let dot = domain.firstIndex(of: ".") else { break }
        domain = domain[domain.index(after: dot)...]
      }
    }
    return found
  }
}

extension ModerationRule.Action {
  fileprivate var strength: Int {
    switch self {
    case .refuse: 3
    case .hold: 2
    case .report: 1
    }
  }
}

/// Phrases as paths of words.
private struct PhraseTrie: Sendable {
  private struct Step: Hashable {
    let node: Int
    let word: Int
  }

  private var numbers: [String: Int] = [:]
  private var next: [Step: Int] = [:]
  /// The rules with the phrase that ends at each node. The first node is the root.
  private var rules: [RuleBits] = [0]

  mutating func add(_ phrase: [String], _ bit: RuleBits) {
    guard !phrase.isEmpty else { return }
    var node = 0
    for word in phrase {
      let number = numbers[word] ?? numbers.count
      numbers[word] = number
      let step = Step(node: node, word: number)
      if let known = next[step] {
        node = known
      } else {
        node = rules.count
        next[step] = node
        rules.append(0)
      }
    }
    rules[node] |= bit
  }

  func matches(in text: String) -> RuleBits {
    guard !numbers.isEmpty else { return 0 }
    // Words that are in no phrase end every phrase.
    let words = SearchText.words(of: text).map { numbers[$0] }
    var found: RuleBits = 0
    for start in words.indices {
      var node = 0
      for word in words[start...] {
        guard let word, let step = next[Step(node: node, word: word)] else { break }
        node = step
        found |= rules[node]
      }
    }
    return found
  }
}

enum LinkHost {
  /// RFC 1035 §2.3.4.
  static let maxLength = 253

  /// The host of an address, in lower case.
  static func of(_ link: String) -> String? {
    var rest = link[...]
    if let scheme = link.firstRange(of: "://") {
      rest = rest[scheme.upperBound...]
    } else if let colon = link.firstIndex(of: ":"), link[..<colon] == "mailto" {
      rest = rest[link.index(after: colon)...]
    }
    rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
    if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    rest = rest.prefix { $0 != ":" }
    while rest.last == "." { rest.removeLast() }
    guard !rest.isEmpty, rest.utf8.count <= maxLength else { return nil }
    return rest.lowercased()
  }
}

/// The compiled rules in force. A change drops them, and the next post reads them again.
final class ModerationRuleCache: Sendable {
  private struct State {
    var rules: CompiledRules?
    var changes = 0
  }

  private let state = Mutex(State())

  /// The rules, and the number of changes by which `keep` recognizes outdated ones.
  var current: (rules: CompiledRules?, changes: Int) { state.withLock { ($0.rules, $0.changes) } }

  func keep(_ rules: CompiledRules, asOf changes: Int) {
    state.withLock { state in
      if state.changes == changes { state.rules = rules }
    }
  }

  func drop() {
    state.withLock { state in
      state.rules = nil
      state.changes += 1
    }
  }
}
