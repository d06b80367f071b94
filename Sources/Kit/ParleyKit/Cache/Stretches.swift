public import ParleyJSON

/// Which messages of a conversation are held, by their `seq`: stretches that do not touch one another, in order.
public struct Stretches: Sendable, Hashable {
  public private(set) var all: [ClosedRange<Int>] = []

  public init() {}

  public mutating func add(_ new: ClosedRange<Int>) {
    var merged = new
    var kept: [ClosedRange<Int>] = []
    for stretch in all {
      // `- 1` of what is at least 1, and `+ 1` of what is no largest number.
      let touches = stretch.lowerBound - 1 <= merged.upperBound && merged.lowerBound - 1 <= stretch.upperBound
      if touches {
        merged = min(stretch.lowerBound, merged.lowerBound)...max(stretch.upperBound, merged.upperBound)
      } else {
        kept.append(stretch)
      }
    }
    let place = kept.firstIndex { $0.lowerBound > merged.lowerBound } ?? kept.count
    kept.insert(merged, at: place)
    all = kept
  }

  public mutating func remove(_ gone: ClosedRange<Int>) {
    all = all.flatMap { stretch -> [ClosedRange<Int>] in
      guard stretch.overlaps(gone) else { return [stretch] }
      var left: [ClosedRange<Int>] = []
      if stretch.lowerBound < gone.lowerBound { left.append(stretch.lowerBound...gone.lowerBound - 1) }
      if stretch.upperBound > gone.upperBound { left.append(gone.upperBound + 1...stretch.upperBound) }
      return left
    }
  }

  public func contains(_ seq: Int) -> Bool { stretch(at: seq) != nil }

  public func stretch(at seq: Int) -> ClosedRange<Int>? { all.first { $0.contains(seq) } }

  public func covers(_ seqs: ClosedRange<Int>) -> Bool {
    stretch(at: seqs.lowerBound).map { $0.upperBound >= seqs.upperBound } ?? false
  }

  /// What of these is not held.
  public func missing(in seqs: ClosedRange<Int>) -> [ClosedRange<Int>] {
    var missing: [ClosedRange<Int>] = []
    var next = seqs.lowerBound
    for stretch in all where stretch.upperBound >= next && stretch.lowerBound <= seqs.upperBound {
      if stretch.lowerBound > next { missing.append(next...stretch.lowerBound - 1) }
      guard stretch.upperBound < seqs.upperBound else { return missing }
      next = max(next, stretch.upperBound + 1)
    }
    missing.append(next...seqs.upperBound)
    return missing
  }
}

extension Stretches: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.array { json in
      for stretch in all { json.value([stretch.lowerBound, stretch.upperBound]) }
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

/// What is known of a conversation's history here.
public struct HeldHistory: Sendable, Hashable {
  public var held = Stretches()
  public var sync = SyncState.notStarted
  /// Where it began when it was last found complete: nobody gave us what is before.
  private(set) var first: Int?

  public init() {}

  mutating func come(to state: SyncState, lastSeq: Int) {
    sync = state
    // Where nothing is to be had, it begins with what is said next.
    first = state == .complete ? held.all.first?.lowerBound ?? min(lastSeq, .max - 1) + 1 : nil
  }
}

/// How far the full sync of a conversation has come.
public enum SyncState: Sendable, Hashable {
  case notStarted
  /// It goes on with what is older than this `seq`.
  case started(before: Int)
  /// Everything from the beginning of one's history on is held.
  case complete
}

extension HeldHistory: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("held", held)
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
    held = try object.read("held")
    if let seq: Int = try object.optional("started") { sync = .started(before: seq) }
    if try object.optional("complete") ?? false { sync = .complete }
    first = try object.optional("first")
  }
}
