// Positions of users in lists, for clients of App.net and pnut. They are private, and move the read position of a conversation
// and of the timeline, which never go back.

public import ParleyModel
public import Storage

/// A list with a marker.
public enum MarkedList: Sendable, Hashable {
  case timeline(name: String)
  case channel(ID<Conversation>)
  /// Another list, whose position clients alone know.
  case other(name: String)

  public var name: String {
    switch self {
    case .timeline(let name), .other(let name): name
    case .channel(let id): "channel:\(id)"
    }
  }
}

/// A new position.
public struct MarkerChange: Sendable {
  public var list: MarkedList
  public var message: ID<Message>
  public var percentage: Int
  /// Whether the furthest position that was read may fall.
  public var resets: Bool

  public init(_ list: MarkedList, _ message: ID<Message>, percentage: Int, resets: Bool) {
    self.list = list
    self.message = message
    self.percentage = percentage
    self.resets = resets
  }
}

extension CommunityView {
  /// The caller's position; nil before the first move.
  public func dialectMarker(of list: MarkedList, for caller: Caller) throws(Refusal) -> DialectMarker? {
    guard let user = caller.user else { return nil }
    return try read { tx throws(Refusal) in try tx.dialectMarker(list.name, of: user) }
  }
}

extension Community {
  /// Moves the caller's position. The message of a channel has to be one of its messages that the caller may read.
  public func moveDialectMarker(_ change: MarkerChange, by caller: Caller) async throws(Refusal) -> DialectMarker {
    let user = try caller.requireUser(.write)
    try caller.requireWholeSite()
    switch change.list {
    case .channel(let id):
      _ = try await advanceReadPosition(.read, in: id, to: change.message, by: caller)
    case .timeline:
      _ = try await markTimelineRead(upTo: change.message, by: caller)
    case .other: break
    }
    return try await store.write { [bounds] tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      let before = try tx.dialectMarker(change.list.name, of: user)
      // Lists that are gone keep their markers.
      if before == nil, try tx.dialectMarkerCount(of: user) >= bounds.dialectMarkers {
        try tx.removeOldestDialectMarker(of: user)
      }
      let furthest = before.map { max($0.lastRead, change.message) } ?? change.message
      let marker = DialectMarker(
        name: change.list.name, message: change.message, lastRead: change.resets ? change.message : furthest,
        percentage: change.percentage, updatedAt: tx.now, version: (before?.version ?? 0) + 1)
      try tx.set(marker, of: user)
      return marker
    }
  }

  /// Forgets the caller's position.
  public func removeDialectMarker(of list: MarkedList, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      try tx.removeDialectMarker(list.name, of: user)
    }
  }
}
