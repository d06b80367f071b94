public import ParleyJSON

/// A set of `seq` numbers, stored as sorted ranges that do not touch.
public struct SeqRanges: Sendable, Hashable {
  /// The ranges in ascending order.
  public private(set) var all: [ClosedRange<Int>] = []

  /// An empty set.
  public init() {}

  /// Adds a range. Ranges that touch become one.
  public mutating func add(_ new: ClosedRange<Int>) {
    var merged = new
    var others: [ClosedRange<Int>] = []
    for range in all {
      // `- 1` can't overflow, because a `seq` is at least 1.
      let touches = range.lowerBound - 1 <= merged.upperBound && merged.lowerBound - 1 <= range.upperBound
      if touches {
        merged = min(range.lowerBound, merged.lowerBound)...max(range.upperBound, merged.upperBound)
      } else {
        others.append(range)
      }
    }
    let index = others.firstIndex { $0.lowerBound > merged.lowerBound } ?? others.count
    others.insert(merged, at: index)
    all = others
  }

  /// Removes a range, and splits those that contain it.
  public mutating func remove(_ removed: ClosedRange<Int>) {
    all = all.flatMap { range -> [ClosedRange<Int>] in
      guard range.overlaps(removed) else { return [range] }
      var rest: [ClosedRange<Int>] = []
      if range.lowerBound < removed.lowerBound { rest.append(range.lowerBound...removed.lowerBound - 1) }
      if range.upperBound > removed.upperBound { rest.append(removed.upperBound + 1...range.upperBound) }
      return rest
    }
  }

  /// Whether the set has this number.
  public func contains(_ seq: Int) -> Bool { range(at: seq) != nil }

  /// The range with this number.
  public func range(at seq: Int) -> ClosedRange<Int>? { all.first { $0.contains(seq) } }

  /// Whether one range has all of these numbers.
  public func covers(_ seqs: ClosedRange<Int>) -> Bool {
    range(at: seqs.lowerBound).map { $0.upperBound >= seqs.upperBound } ?? false
  }

  /// The gaps within `seqs`.
  public func missing(in seqs: ClosedRange<Int>) -> [ClosedRange<Int>] {
    var missing: [ClosedRange<Int>] = []
    var next = seqs.lowerBound
    for range in all where range.upperBound >= next && range.lowerBound <= seqs.upperBound {
      if range.lowerBound > next { missing.append(next...range.lowerBound - 1) }
      guard range.upperBound < seqs.upperBound else { return missing }
      next = max(next, range.upperBound + 1)
    }
    missing.append(next...seqs.upperBound)
    return missing
  }
}

extension SeqRanges: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.array { json in
      for range in all { json.value([range.lowerBound, range.upperBound]) }
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    for pair in try value.array() {
      let ends: [Int] = try Array(json: pair)
      guard ends.count == 2, ends[0] >= 1, ends[0] <= ends[1], ends[1] < Int.max else { throw pair.error(.invalid) }
      add(ends[0]...ends[1])
    }
  }
}

/// The cached ranges of a conversation's history and the progress of its full sync.
public struct CachedHistory: Sendable, Hashable {
  /// The cached positions.
  public var cached = SeqRanges()
  /// The progress of the full sync.
  public var sync = SyncState.notStarted
  /// The first readable `seq` when the history was last found complete.
  private(set) var first: Int?

  /// A history without messages.
  public init() {}

  mutating func update(to state: SyncState, lastSeq: Int) {
    sync = state
    // An empty history begins with the next message. A message that was sent ahead of earlier events leaves a gap after it.
    let next = min(lastSeq, .max - 1) + 1
    first = state == .complete ? min(cached.all.first?.lowerBound ?? next, next) : nil
  }
}

/// The progress of the full sync of a conversation.
public enum SyncState: Sendable, Hashable {
  /// No full sync was requested.
  case notStarted
  /// The sync continues with messages before this `seq`.
  case started(before: Int)
  /// All messages that the user may read are cached.
  case complete
}

extension CachedHistory: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("held", cached)
      switch sync {
      case .notStarted: break
      case .started(let seq): json.field("started", seq)
      case .complete:
        json.field("complete", true)
        if let first { json.field("first", first) }
      }
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    cached = try object.read("held")
    if let seq: Int = try object.optional("started") { sync = .started(before: seq) }
    if try object.optional("complete") ?? false { sync = .complete }
    first = try object.optional("first")
  }
}
