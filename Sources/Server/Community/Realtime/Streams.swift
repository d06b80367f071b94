// What happened in a stream, read again: for a client that finds a hole between two offsets.

public import ParleyModel
import Storage

/// Some events of a stream that follow one another.
public struct StreamPage: Sendable {
  public let events: [DeliveredEvent]
  public let hasMore: Bool
  /// The offset of the stream's last event.
  public let lastOffset: Int
  public let cursor: String
}

extension Community {
  /// The events after `offset`, in order and without a hole, or `gone`, where the log no longer holds them all. Rights are
  /// those of now.
  public func events(
    in stream: EventStream, after offset: Int, limit: Int, for caller: Caller
  ) async throws(Refusal) -> StreamPage {
    let (page, last) = try await store.readInBackground { tx throws(Refusal) in
      let caller = try tx.admitted(caller)
      let reader = StreamReader(caller.role, fromSeq: try tx.fromSeq(in: stream, for: caller))
      let head = try tx.heads(of: [stream], movedSince: 0).first?.offset ?? 0
      guard offset <= head else { throw .invalid("after_offset", .outOfRange(0...head)) }
      let found = try tx.events(in: stream, after: offset, limit: limit + 1)
      guard offset == head || found.first?.offset == offset + 1 else { throw .gone }
      let events = try tx.delivered(Array(found.prefix(limit))).map { $0.seen(by: reader) }
      return ((events: events, hasMore: found.count > limit, head: head), try tx.lastEvent())
    }
    return StreamPage(
      events: page.events, hasMore: page.hasMore, lastOffset: page.head, cursor: cursor(at: last))
  }
}

extension ReadTransaction {
  /// Where the caller's history begins in a stream that they may read. Any other is not there.
  func fromSeq(in stream: EventStream, for caller: Caller) throws(Refusal) -> Int {
    switch stream {
    case .site: _ = try caller.person()
    case .user(let account): guard account == caller.account else { throw .notFound }
    case .forum(let forum): try require(.read, caller, in: forum)
    case .conversation(let conversation):
      let (_, standing) = try rights(of: caller, in: conversation)
      return Permissions.fromSeq(of: caller.role, in: standing)
    }
    return 1
  }
}
