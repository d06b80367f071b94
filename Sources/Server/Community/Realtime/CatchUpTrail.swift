import ParleyModel
import PubSub
import Synchronization

/// Where somebody who reads on stands between two pages: which streams there are, and how far each was read. As long as
/// nothing happens in the place, the next page need not find that out again.
///
/// It holds for one end of the log, as what was told does: whatever changes who may see what is an event itself, in the same
/// transaction. With the next one it is forgotten, and found anew by the rights of that moment.
public final class CatchUpTrail: Sendable {
  /// What a page was asked for, and where it ended.
  struct Stand: Hashable {
    let head: Int
    /// Everything up to here was told.
    let event: Int
    let topics: [LiveTopic]
    let account: ID<Account>?
    let role: Role?

    func moved(to event: Int) -> Self {
      Self(head: head, event: event, topics: topics, account: account, role: role)
    }
  }

  struct Way {
    var expanded: Expanded
    /// By the numbers of the streams.
    var sources: [Source]

    /// Goes on to the offsets up to which each stream was told.
    mutating func pass(_ ends: [EventStream: Int]) {
      for place in sources.indices {
        if let end = ends[sources[place].head.stream] { sources[place].offset = end }
      }
      sources.removeAll { $0.offset >= $0.head.offset }
    }
  }

  struct Expanded {
    var streams: [EventStream: FollowedStream] = [:]
    var lost: [LiveTopic] = []
    /// The first event that is told, where that is not the first of all.
    var fromOffsets: [EventStream: Int] = [:]
  }

  /// A stream of which something is to be told, and from where.
  struct Source {
    let head: StreamHead
    var offset: Int
  }

  private let kept = Mutex<(stand: Stand, way: Way)?>(nil)

  public init() {}

  func way(from stand: Stand) -> Way? {
    kept.withLock { $0.flatMap { $0.stand == stand ? $0.way : nil } }
  }

  func keep(_ way: Way, at stand: Stand) { kept.withLock { $0 = (stand, way) } }
}
