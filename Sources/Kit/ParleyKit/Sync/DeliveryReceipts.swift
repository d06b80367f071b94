// Sends delivery receipts: the last cached message of each conversation with receipts.
//
// The pending receipts follow from the cache and from the server's delivered position. They are therefore not stored and not
// an outbox operation: a lost receipt is sent again after the next catch-up.

import ParleyModel

actor DeliveryReceipts {
  private let cache: Cache
  private let client: Client
  private let wait: @Sendable (Duration) async throws -> Void
  /// The last sent or rejected receipt of each conversation that no event has confirmed.
  private var sent: [ID<Conversation>: Int] = [:]
  /// The cache's generation of `sent`. A restored server has lower numbers.
  private var generation: Int?
  private var isDue = false
  private var sendTask: Task<Void, Never>?

  /// The server publishes receipts at most once a second.
  private static let delay = Duration.seconds(1)
  /// Receipts per round. Each one counts towards the user's rate limit for changes, most of which is reserved for the
  /// user's own actions.
  private static let maxPerRound = 4
  private static let roundInterval = Duration.seconds(4)
  /// Larger conversations have no receipts.
  private static let maxParticipants = 50
  /// New messages that are searched for one by another author.
  private static let maxScanned = 50

  init(_ cache: Cache, _ client: Client, wait: @escaping @Sendable (Duration) async throws -> Void) {
    self.cache = cache
    self.client = client
    self.wait = wait
  }

  /// Schedules a round after new messages.
  func scheduleSend() {
    isDue = true
    guard sendTask == nil else { return }
    sendTask = Task { await self.run() }
  }

  func stop() async {
    isDue = false
    sendTask?.cancel()
    await sendTask?.value
    sent = [:]
  }

  private func run() async {
    rounds: while isDue, await didWait(Self.delay) {
      isDue = false
      switch await send() {
      case .everything: break
      case .some: isDue = true
      case .nothing: break rounds
      }
      guard await didWait(Self.roundInterval) else { break }
    }
    sendTask = nil
  }

  private func didWait(_ time: Duration) async -> Bool {
    do {
      try await wait(time)
      return true
    } catch { return false }
  }

  /// The share of pending receipts that the server has answered.
  enum SendResult { case everything, some, nothing }

  func send() async -> SendResult {
    do {
      let pending = try await pending()
      for (conversation, newest) in pending.prefix(Self.maxPerRound) {
        do throws(ClientFault) {
          try await client.send(.markDelivered(conversation, upTo: newest.id))
        } catch {
          // The server would reject the receipt again.
          guard error.problem != nil, !error.isTemporary, !error.isSignedOut else { return .nothing }
        }
        sent[conversation] = newest.seq
      }
      return pending.count > Self.maxPerRound ? .some : .everything
    } catch {
      // A cache fault ends the loop of `Parley`.
      return .nothing
    }
  }

  /// The newest message of each conversation with new messages by others, oldest first.
  private func pending() async throws(CacheFault) -> [(ID<Conversation>, Message)] {
    let replica = await cache.replica
    let generation = await cache.generation
    if self.generation != generation { (self.generation, sent) = (generation, [:]) }
    guard let me = replica.me, me.own?.showsReceipts == true else { return [] }
    var pending: [(ID<Conversation>, Message)] = []
    for (id, copy) in replica.conversations where Self.hasReceipts(copy) {
      let known = max(copy.readPosition.deliveredSeq, copy.participation?.joinedSeq ?? 0, sent[id] ?? 0)
      guard let last = await cache.history(of: id).cached.all.last?.upperBound, last > known else { continue }
      let new = try await cache.messages(.range(known + 1...last, of: id, .descending, limit: Self.maxScanned))
      guard let newest = new.first, new.contains(where: { $0.message.author != me.summary.id }) else { continue }
      pending.append((id, newest.message))
    }
    return pending.sorted { $0.1.id < $1.1.id }
  }

  private static func hasReceipts(_ copy: ReplicaConversation) -> Bool {
    guard let part = copy.participation, !part.isRequest else { return false }
    switch copy.conversation.kind {
    case .direct, .group: return copy.conversation.participantCount.map { $0 <= maxParticipants } ?? true
    case .channel, .feed, .room, .topic: return false
    }
  }
}
