import Community
import ParleyJSON
import ParleyModel
import PubSub

/// The pending subscriptions of one client. A subscription from several cursors has one answer.
struct SubscriptionRequests {
  /// The origin of a subscription.
  enum Origin: Hashable {
    /// The topics of the socket's URL. The answer is a control frame.
    case url
    case command(slot: Int)
  }

  private struct Pending {
    var remaining: Int
    var outcomes: [SubscriptionState.Outcome] = []
  }

  private var pending: [Origin: Pending] = [:]
  private var origins: [Int: Origin] = [:]
  private var nextTicket = 0

  /// Starts a subscription. Returns a ticket for each of its cursors.
  mutating func open(_ origin: Origin, cursors count: Int) -> Range<Int> {
    let tickets = nextTicket..<nextTicket + count
    nextTicket += count
    for ticket in tickets { origins[ticket] = origin }
    pending[origin] = Pending(remaining: count)
    return tickets
  }

  /// Records the outcome of a ticket. Returns all outcomes after the last one.
  mutating func finish(
    _ ticket: Int, _ outcome: SubscriptionState.Outcome
  ) -> (origin: Origin, outcomes: [SubscriptionState.Outcome])? {
    guard let origin = origins.removeValue(forKey: ticket), var subscription = pending[origin] else {
      return nil
    }
    subscription.outcomes.append(outcome)
    subscription.remaining -= 1
    pending[origin] = subscription.remaining == 0 ? nil : subscription
    return subscription.remaining == 0 ? (origin, subscription.outcomes) : nil
  }

  /// Cancels all subscriptions. Returns the slots of their commands.
  mutating func cancelAll() -> [Int] {
    let slots = pending.keys.compactMap { origin in
      if case .command(let slot) = origin { slot } else { nil as Int? }
    }
    (pending, origins) = ([:], [:])
    return slots.sorted()
  }
}

/// The combined outcome of a request.
struct SubscriptionAnswer {
  let cursor: String
  let lost: [LiveTopic]
  let reset: ResetReason?
  /// Whether none of the topics is readable.
  let isRefused: Bool

  /// `cursor` resumes all topics of the client, earlier ones too.
  init(_ outcomes: [SubscriptionState.Outcome], resumingAt cursor: String) {
    self.cursor = cursor
    lost = outcomes.flatMap(\.lost)
    reset = outcomes.compactMap(\.reset).first
    isRefused = outcomes.allSatisfy(\.isRefused)
  }

  /// The answer to the topics of the socket's URL.
  var control: [UInt8] {
    reset.map { Control.reset($0, cursor, lost: lost) } ?? Control.complete(cursor, lost: lost)
  }

  /// The members of the answer to a command.
  func writeFields(to json: inout JSONWriter) {
    json.field("complete", reset == nil)
    if let reset {
      json.field("reset", true)
      json.field("reason", reset.rawValue)
    }
    json.field("cursor", cursor)
    if !lost.isEmpty { json.field("lost", lost) }
  }
}
