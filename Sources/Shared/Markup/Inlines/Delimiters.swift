/// Pairs runs of `*`, `_`, `~~` and `||` with the "process emphasis" algorithm of CommonMark's appendix. A closing run
/// searches backwards for its opener. A failed search sets a floor, so that no run of its kind searches there again.
struct Delimiters {
  static let none = -1

  struct Run {
    let byte: UInt8
    let length: Int
    var side: Side
    /// The number of bytes not yet used by a pair.
    var rest: Int
    var previous: Int
    var next = Delimiters.none
    /// Indexes into `pairs`: innermost first for closing, outermost first for opening.
    var firstClose = Delimiters.none
    var lastClose = Delimiters.none
    var firstOpen = Delimiters.none
  }

  struct Side {
    var opens: Bool
    var closes: Bool
  }

  struct Pair {
    let kind: Token.Kind
    var next: Int
  }

  private(set) var runs: [Run] = []
  private(set) var pairs: [Pair] = []
  /// The last unpaired run. A link stores it when it opens.
  private(set) var last = Delimiters.none
  private var floors = [Int](repeating: Delimiters.none, count: 14)

  mutating func removeAll() {
    runs.removeAll(keepingCapacity: true)
    pairs.removeAll(keepingCapacity: true)
    last = Self.none
  }

  mutating func append(_ byte: UInt8, length: Int, side: Side) -> Int {
    let number = runs.count
    runs.append(Run(byte: byte, length: length, side: side, rest: length, previous: last))
    if last != Self.none { runs[last].next = number }
    last = number
    return number
  }

  /// Pairs all runs after `bottom` and removes them from the list. Returns the number of visited runs.
  mutating func pair(above bottom: Int) -> Int {
    guard last != bottom else { return 0 }
    for kind in floors.indices { floors[kind] = bottom }
    var visited = 0
    var closer = last
    while runs[closer].previous != bottom {
      closer = runs[closer].previous
      visited += 1
    }
    while closer != Self.none {
      visited += 1
      guard runs[closer].side.closes else {
        closer = runs[closer].next
        continue
      }
      let floor = floorKind(of: runs[closer])
      let opener = opener(for: closer, above: max(bottom, floors[floor]), &visited)
      if opener != Self.none {
        join(opener, closer)
        if runs[opener].rest == 0 { remove(opener) }
        if runs[closer].rest == 0 { closer = remove(closer) }
      } else {
        floors[floor] = runs[closer].previous
        closer = runs[closer].side.opens ? runs[closer].next : remove(closer)
      }
    }
    last = bottom
    if bottom != Self.none { runs[bottom].next = Self.none }
    return visited
  }

  private func opener(for closer: Int, above floor: Int, _ visited: inout Int) -> Int {
    var opener = runs[closer].previous
    while opener > floor {
      visited += 1
      if runs[opener].byte == runs[closer].byte, runs[opener].side.opens, mayPair(runs[opener], runs[closer]) {
        return opener
      }
      opener = runs[opener].previous
    }
    return Self.none
  }

  // CommonMark 0.31 §6.2, rules 9 and 10.
  private func mayPair(_ opener: Run, _ closer: Run) -> Bool {
    guard opener.side.closes || closer.side.opens else { return true }
    return (opener.length + closer.length) % 3 != 0 || opener.length % 3 == 0 && closer.length % 3 == 0
  }

  /// The floor index. Runs that match the same openers share a floor.
  private func floorKind(of run: Run) -> Int {
    switch run.byte {
    case UInt8(ascii: "~"): return 12
    case UInt8(ascii: "|"): return 13
    default:
      let kind = run.length % 3 + (run.side.opens ? 3 : 0)
      return run.byte == UInt8(ascii: "*") ? kind : kind + 6
    }
  }

  private mutating func join(_ opener: Int, _ closer: Int) {
    let isDouble = runs[opener].rest >= 2 && runs[closer].rest >= 2
    let used = isDouble ? 2 : 1
    let kind: Token.Kind =
      switch runs[closer].byte {
      case UInt8(ascii: "~"): .strike
      case UInt8(ascii: "|"): .spoiler
      default: isDouble ? .strong : .emphasis
      }
    pairs.append(Pair(kind: kind, next: runs[opener].firstOpen))
    runs[opener].firstOpen = pairs.count - 1
    pairs.append(Pair(kind: kind, next: Self.none))
    if runs[closer].lastClose == Self.none {
      runs[closer].firstClose = pairs.count - 1
    } else {
      pairs[runs[closer].lastClose].next = pairs.count - 1
    }
    runs[closer].lastClose = pairs.count - 1
    runs[opener].rest -= used
    runs[closer].rest -= used
    // Unpaired runs between the two can no longer be paired.
    runs[opener].next = closer
    runs[closer].previous = opener
  }

  /// Removes a run from the list. Returns the next one.
  @discardableResult
  private mutating func remove(_ run: Int) -> Int {
    let (previous, next) = (runs[run].previous, runs[run].next)
    if previous != Self.none { runs[previous].next = next }
    if next != Self.none { runs[next].previous = previous }
    return next
  }
}

extension Delimiters.Side {
  /// CommonMark 0.31 §6.2, left- and right-flanking. In scripts without spaces a letter beside the run does not show a
  /// word boundary, so punctuation inside the run does not prevent emphasis: `**です。**と`.
  init(of byte: UInt8, before: Unicode.Scalar?, after: Unicode.Scalar?) {
    let left = before.map(ScalarKind.init) ?? .space
    let right = after.map(ScalarKind.init) ?? .space
    let isEastAsian = (before?.isEastAsian ?? false) || (after?.isEastAsian ?? false)
    opens = right != .space && (right != .punctuation || left == .space || left == .punctuation || isEastAsian)
    closes = left != .space && (left != .punctuation || right == .space || right == .punctuation || isEastAsian)
    guard byte == UInt8(ascii: "_") else { return }
    (opens, closes) = (opens && (!closes || left == .punctuation), closes && (!opens || right == .punctuation))
  }
}
