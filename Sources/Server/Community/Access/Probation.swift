// Rate limits for new users, per hour. Checked and counted in the transaction that posts, so that concurrent posts
// cannot exceed them.

import ParleyModel
import Storage

extension ParsedText {
  /// The amounts that count towards the limits.
  var counted: PostCounts { PostCounts(messages: 1, links: linkCount, mentions: mentionCount) }
}

/// The amounts that a post adds.
struct PostCounts {
  /// The counts of an operation without limits per hour, which only a pause of new users refuses.
  static let none = PostCounts(messages: 0, links: 0, mentions: 0)

  var messages: Int
  var links: Int
  var mentions: Int
}

extension ReadTransaction {
  /// The user's counts of this hour including `more`, or nil if the user is not new. Throws if a limit is exceeded.
  ///
  /// - Parameter known: for a caller that has read it.
  func probation(
    of caller: Caller, in standing: Standing, adding more: PostCounts, known: Newcomer? = nil
  ) throws(Refusal) -> Probation? {
    guard let user = caller.user, isOnProbation(caller.role, standing) else { return nil }
    let found: Newcomer? = if let known { known } else { try newcomer(user) }
    guard let newcomer = found else { return nil }
    let limits = newcomer.limits
    let probationEndsAt = newcomer.probationEndsAt
    guard newcomer.isNew(at: now) else { return nil }
    if let until = newcomer.pausedUntil, until > now { throw refusal(.pause, limits, until: until) }

    var hour = newcomer.hour ?? Probation(since: now)
    // If the clock was set back, start a new hour.
    if !(hour.since...(hour.since + Self.hour - 1)).contains(now) { hour = Probation(since: now) }
    hour.messages += more.messages
    hour.links += more.links
    hour.mentions += more.mentions
    for (limit, count, added) in [
      (Newcomers.Limit.messages, hour.messages, more.messages), (.links, hour.links, more.links),
      (.mentions, hour.mentions, more.mentions),
    ] {
      let allowed = limits.perHour(limit)
      guard added > 0, count > allowed else { continue }
      // An amount above the hourly limit is refused until the user is no longer new.
      let end = hour.since + Self.hour
      let until = added > allowed ? max(probationEndsAt, end) : end
      throw refusal(limit, limits, until: until)
    }
    return hour
  }

  /// Throws while the caller is silenced on the whole site, and on probation while newcomers only read: for operations that
  /// show a text of the caller to others without a message, or the caller to strangers.
  func requireMayPublish(_ caller: Caller) throws(Refusal) {
    let user = try caller.requireUser()
    if let silence = try sanction(.silence, of: user) { throw .silenced(until: silence.until, reason: silence.reason) }
    _ = try probation(of: caller, in: Standing(kind: .group), adding: .none)
  }

  private func refusal(_ limit: Newcomers.Limit, _ limits: Newcomers, until: Int64) -> Refusal {
    .newcomer(limit, max: limits.perHour(limit), until: until, seconds: Int((until - now + 999) / 1_000))
  }

  /// Whether only the user reads the conversation: a private channel, whose posts count towards no limit.
  func isPrivateChannel(_ conversation: ID<Conversation>, _ standing: Standing) throws(Refusal) -> Bool {
    guard standing.kind == .channel, standing.readers == .listed, standing.participant != nil else { return false }
    return try participantCount(of: conversation, upTo: 2) == 1
  }

  private static var hour: Int64 { 3_600_000 }

  private func isOnProbation(_ role: Role?, _ standing: Standing) -> Bool {
    switch role {
    case nil, .owner, .admin, .moderator, .bot: false
    case .member, .guest: standing.forum?.role == nil || standing.forum?.role == .member
    }
  }
}
