// Tells the server, by itself, how far this device has the conversations in which others may know it.
//
// What is to be told follows from what is held and from the mark that the server has. So nothing of it is kept, and it is no
// operation of the outbox: what was not told, or got lost, is told after an app has caught up the next time.

import ParleyModel

actor DeliveryMarks {
  private let cache: Cache
  private let client: Client
  private let wait: @Sendable (Duration) async throws -> Void
  /// What the server has heard, or does not want to hear, and no event has told.
  private var told: [ID<Conversation>: Int] = [:]
  /// The history of the server to which these numbers belong: a restore begins another one, with lower numbers.
  private var epoch: String?
  private var isDue = false
  private var telling: Task<Void, Never>?

  /// The server tells the others at most once a second, so what comes meanwhile is told together.
  private static let pause = Duration.seconds(1)
  /// So many conversations at once, and then a rest: each is one of the changes that a person may make in a minute, and most
  /// of those are for the person.
  private static let mostAtOnce = 4
  private static let rest = Duration.seconds(4)
  /// In conversations of more people the contract has no receipts.
  private static let mostPeople = 50
  /// Of what is new, so much is looked at for something that somebody else has said.
  private static let most = 50

  init(_ cache: Cache, _ client: Client, wait: @escaping @Sendable (Duration) async throws -> Void) {
    self.cache = cache
    self.client = client
    self.wait = wait
  }

  /// Something has come.
  func tellSoon() {
    isDue = true
    guard telling == nil else { return }
    telling = Task { await self.run() }
  }

  func stop() async {
    isDue = false
    telling?.cancel()
    await telling?.value
    told = [:]
  }

  private func run() async {
    rounds: while isDue, await hasWaited(Self.pause) {
      isDue = false
      switch await tell() {
      case .everything: break
      case .some: isDue = true
      case .nothing: break rounds
      }
      guard await hasWaited(Self.rest) else { break }
    }
    telling = nil
  }

  private func hasWaited(_ time: Duration) async -> Bool {
    do {
      try await wait(time)
      return true
    } catch { return false }
  }

  /// How much of what was to be told has had an answer.
  enum Told { case everything, some, nothing }

  func tell() async -> Told {
    do {
      let untold = try await untold()
      for (conversation, newest) in untold.prefix(Self.mostAtOnce) {
        do throws(ClientFault) {
          try await client.send(.markDelivered(conversation, upTo: newest.id))
        } catch {
          // What is refused is refused the next time, too.
          guard error.problem != nil, !error.isTemporary, !error.isSignedOut else { return .nothing }
        }
        told[conversation] = newest.seq
      }
      return untold.count > Self.mostAtOnce ? .some : .everything
    } catch {
      // What can't be read here ends the loop that follows.
      return .nothing
    }
  }

  /// The newest message of each conversation in which somebody else has said something since; the one that has waited
  /// longest first.
  private func untold() async throws(CacheFault) -> [(ID<Conversation>, Message)] {
    let replica = await cache.replica
    if epoch != replica.cursor?.epoch { (epoch, told) = (replica.cursor?.epoch, [:]) }
    guard let me = replica.me, me.own?.showsReceipts == true else { return [] }
    var untold: [(ID<Conversation>, Message)] = []
    for (id, held) in replica.conversations where Self.hasReceipts(held) {
      let known = max(held.mark.deliveredSeq, held.participation?.joinedSeq ?? 0, told[id] ?? 0)
      guard let last = await cache.history(of: id).held.all.last?.upperBound, last > known else { continue }
      let new = try await cache.messages(.stretch(known + 1...last, of: id, .descending, limit: Self.most))
      guard let newest = new.first, new.contains(where: { $0.message.author != me.account.id }) else { continue }
      untold.append((id, newest.message))
    }
    return untold.sorted { $0.1.id < $1.1.id }
  }

  private static func hasReceipts(_ held: HeldConversation) -> Bool {
    guard let part = held.participation, !part.isRequest else { return false }
    switch held.conversation.kind {
    case .direct, .group: return held.conversation.participantCount.map { $0 <= mostPeople } ?? true
    case .channel, .feed, .room, .topic: return false
    }
  }
}
