// Reads the events of one stream again, for a client that finds a gap between two offsets.

public import ParleyModel
import Storage

/// Consecutive events of one stream.
public struct StreamPage: Sendable {
  public let page: ListPage<DeliveredEvent>
  public let lastOffset: Int
  public let cursor: String
}

extension Community {
  /// The events after `offset` or at the position of the page, in order and without gaps. Throws `gone` if the log no
  /// longer has all of them. The current rights apply.
  public func listStreamEvents(
    in stream: EventStream, after offset: Int, _ request: PageRequest, for caller: Caller
  ) async throws(Refusal) -> StreamPage {
    let (page, head, last) = try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      let caller = try tx.revalidate(caller)
      let reader = StreamReader(caller.role, fromSeq: try tx.fromSeq(in: stream, for: caller))
      let fromOffset = try tx.fromOffset(in: stream, for: caller)
      let head = try tx.heads(of: [stream], movedSince: 0).first?.offset ?? 0
      guard offset <= head else { throw .invalid("after_offset", .outOfRange(0...head)) }
      var request = request
      let position = request.position ?? ListPosition(.next, from: ListKey([offset]))
      request.position = position
      let found = try ListPage(request, by: { ListKey([$0.offset]) }) { slice throws(Refusal) in
        try tx.events(in: stream, slice)
      }
      if position.direction == .next, let start = position.key?.numbers.first, start < head {
        guard found.items.first?.offset == start + 1 else { throw .gone }
      }
      var page = try found.map { events throws(Refusal) in try tx.delivered(events) }
      page.cut(request, by: { ListKey([$0.event.offset]) }, size: \.size)
      page.items = page.items.map {
        $0.event.offset < fromOffset ? DeliveredEvent($0.event, .hidden) : $0.seen(by: reader)
      }
      return (page, head, try tx.lastEvent())
    }
    return StreamPage(page: page, lastOffset: head, cursor: cursor(at: last))
  }
}

extension ReadTransaction {
  /// The first readable message of the stream. Throws if the caller may not read the stream.
  func fromSeq(in stream: EventStream, for caller: Caller) throws(Refusal) -> Int {
    switch stream {
    case .site:
      _ = try caller.requireUser()
      try caller.requireWholeSite()
    case .user(let user): guard user == caller.user, caller.forums == nil else { throw .notFound }
    case .forum(let forum): try require(.read, caller, in: forum)
    case .conversation(let conversation):
      let (_, standing) = try rights(of: caller, in: conversation)
      return Permissions.fromSeq(of: caller.role, in: standing)
    }
    return 1
  }

  /// The first visible event of the stream.
  fileprivate func fromOffset(in stream: EventStream, for caller: Caller) throws(Refusal) -> Int {
    guard case .conversation(let conversation) = stream, let user = caller.user else { return 1 }
    return try fromOffset(of: user, in: conversation)
  }
}
