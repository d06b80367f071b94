// Digests of cached messages: proof and repair.

public import ParleyModel

extension Sync {
  /// The result of a verification.
  public struct VerificationResult: Sendable, Hashable {
    /// Number of compared messages.
    public var checked = 0
    /// Number of messages fetched again.
    public var repaired = 0
    /// Number of unchanged messages with actions that were fetched again after a reset.
    public var refreshed = 0
  }

  /// Compares the cached messages of a conversation with the server's digest and repairs differences.
  public func verify(_ conversation: ID<Conversation>) async throws -> VerificationResult {
    try await catchUp()
    try await refreshWithoutEvents(conversation)
    // An empty copy would be compared with nothing.
    if await cache.history(of: conversation).cached.all.isEmpty { try await refresh(conversation) }
    var verdict = try await exclusively { try await compare(conversation) }
    for seqs in await cache.history(of: conversation).cached.all {
      verdict.refreshed += try await refreshActions(in: seqs, of: conversation)
    }
    return verdict
  }

  /// Compares the cached copy of a conversation with the server's, repairs it, and says whether it is complete.
  public func proof(of conversation: ID<Conversation>) async throws -> Proof {
    do {
      _ = try await verify(conversation)
      for _ in 0..<Self.maxProofRounds {
        if let proof = try await exclusively({ try await prove(conversation) }) { return proof }
      }
      return .incomplete(.changing)
    } catch SyncRefusal.unknownConversation {
      return .incomplete(.unknownConversation)
    } catch let fault as ClientFault {
      return .incomplete(fault.isGone ? .unknownConversation : .unreachable(fault))
    }
  }

  /// Compares the whole readable history. Repairs differences and returns nil if there were any.
  private func prove(_ conversation: ID<Conversation>) async throws -> Proof? {
    let parts = try await client.send(.getDigest(of: conversation, parts: 16)).value.parts
    guard let first = parts.first?.seqs.lowerBound, let last = parts.last?.seqs.upperBound else {
      return .complete(through: nil)
    }
    let missing = await cache.history(of: conversation).cached.missing(in: first...last)
    guard missing.isEmpty else { return .incomplete(.missing(missing)) }
    var newest: Message?
    for part in parts {
      let known = try await cache.messages(.range(part.seqs, of: conversation)).map(\.message)
      guard known.count == part.seqs.count, try MessageDigest.of(known) == part.digest else {
        _ = try await compare(conversation)
        return nil
      }
      newest = known.last
    }
    return .complete(through: newest)
  }

  /// Fetches the actions of all cached messages that may be stale. The caller holds the lock.
  func refetchActions(of conversation: ID<Conversation>) async throws {
    for seqs in await cache.history(of: conversation).cached.all {
      try await refreshActions(in: seqs, of: conversation, isLocked: true)
    }
  }

  /// Fetches the actions that may be stale since a reset: a digest does not cover them.
  /// - Parameter isLocked: whether the caller holds the lock. Otherwise each page takes it.
  /// - Returns: the number of messages.
  @discardableResult
  func refreshActions(
    in seqs: ClosedRange<Int>, of conversation: ID<Conversation>, isLocked: Bool = false
  ) async throws -> Int {
    let asOf = await cache.actionsAsOf
    guard asOf > 0 else { return 0 }
    var (count, next) = (0, seqs.lowerBound)
    while next <= seqs.upperBound {
      let page = try await cache.messages(.range(next...seqs.upperBound, of: conversation, limit: Self.pageSize))
      guard let last = page.last else { break }
      next = last.message.seq + 1
      let unsure = page.filter { $0.replica.actionsAsOf < asOf && $0.message.tombstone == nil }.map(\.message.id)
      if unsure.isEmpty { continue }
      _ = isLocked ? try await refetch(unsure) : try await refresh(unsure)
      count += unsure.count
    }
    return count
  }

  /// Fetches a conversation and its newest messages.
  public func refresh(_ conversation: ID<Conversation>) async throws {
    try await exclusively { try await fetchConversation(conversation) }
  }

  /// Fetches a forum into the cache.
  public func refresh(_ forum: ID<Forum>) async throws {
    try await exclusively { try await fetch(.forum(forum)) }
  }

  func compare(_ conversation: ID<Conversation>) async throws -> VerificationResult {
    var verdict = VerificationResult()
    for range in await cache.history(of: conversation).cached.all {
      verdict.checked += range.count
      verdict.repaired += try await compare(range, of: conversation)
    }
    return verdict
  }

  /// Smaller ranges are fetched again instead of being split further.
  private static let minSplitCount = 50

  func compare(_ seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws -> Int {
    let remote: FetchedDigest
    do {
      remote = try await client.send(
        Request(
          .get, "/conversations/{id}/digest", [conversation.description],
          query: [
            QueryItem("from_seq", seqs.lowerBound), QueryItem("to_seq", seqs.upperBound), QueryItem("parts", 16),
          ]))
    } catch {
      guard error.isGone || error.problem?.status == 400 else { throw error }
      // The conversation is gone: an event or a reset follows, if it has events.
      if error.isGone, await hasEvents(conversation) { return 0 }
      // The readable history begins later, or the server has lost its end.
      try await replace(seqs, of: conversation, by: [], asOf: nil)
      return 0
    }
    try await cache.noteCompared(conversation, with: remote.asOf)
    var repaired = 0
    for part in remote.parts {
      let cached = try await cache.messages(.range(part.seqs, of: conversation))
      let known = cached.map(\.message)
      if known.count == part.seqs.count, try MessageDigest.of(known) == part.digest {
        try await refetchChanged(cached)
        continue
      }
      if part.seqs.count > Self.minSplitCount, part.seqs != seqs {
        repaired += try await compare(part.seqs, of: conversation)
      } else {
        repaired += try await refetch(part.seqs, of: conversation, known.first)
      }
    }
    return repaired
  }

  /// Fetches the edited and deleted messages of an earlier generation. Two histories may give a message the same revision and
  /// text at different times, and a digest does not cover the times.
  func refetchChanged(_ cached: [CachedMessage]) async throws {
    let generation = await cache.generation
    _ = try await refetch(
      cached.filter { $0.generation != generation && $0.message.revision > 1 }.map(\.message.id))
  }

  func refetch(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, _ first: Message?
  ) async throws -> Int {
    var found: [MessageView] = []
    var asOf: EventCursor?
    var isMixed = false
    var query = [QueryItem("order", "asc")]
    // The part before was compared already; the copy of this part may name a message that is lost.
    let before = seqs.lowerBound - 1
    let anchor = try await cache.messages(.range(before...before, of: conversation)).first?.message.id
    if seqs.lowerBound > 1, let previous = anchor ?? first?.previous {
      query.append(.init("after", previous.description))
    }
    var next: String?
    while true {
      let page: FetchedMessages
      do {
        page = try await fetch(conversation, query + [.init("next", next)], limit: min(Self.pageSize, seqs.count))
      } catch {
        guard error.isGone || error.problem?.status == 400 else { throw error }
        // The anchor is gone, too. The range is fetched when a window shows it.
        break
      }
      // Pages of several starts have no common age.
      isMixed = isMixed || asOf.map { $0.start != page.asOf.start } ?? false
      asOf = page.asOf
      found += page.messages
      guard page.next != nil, let last = page.messages.last, last.message.seq < seqs.upperBound else { break }
      next = page.next
    }
    return try await replace(seqs, of: conversation, by: found, asOf: isMixed ? nil : asOf) ? seqs.count : 0
  }

  /// Replaces the cached messages of a range. The user's own that the server still has stay cached, and are fetched: this
  /// copy may be the last one if the server goes back once more.
  /// - Returns: whether the user may read the conversation.
  @discardableResult
  func replace(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, by found: [MessageView], asOf: EventCursor?
  ) async throws -> Bool {
    let compared = try await cache.messages(.range(seqs, of: conversation)).map(\.message)
    let others = await cache.ownMessages(among: compared, of: conversation).without(found.map(\.message))
    let absent = try await absent(of: others)
    guard let lost = try await lost(of: absent, in: conversation) else { return false }
    let kept = others.without(absent)
    try await cache.replace(
      seqs, of: conversation, by: found, asOf: asOf, lost: lost, keeping: kept, compared: compared)
    _ = try await refetch(kept.map(\.id))
    return true
  }
}
