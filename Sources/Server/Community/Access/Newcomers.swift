// What somebody new may do in an hour. It is asked in the transaction that posts, and counted in it, so that a hundred
// messages sent at once are counted like a hundred sent one after the other.

import ParleyModel
import Storage

extension ReadText {
  /// How much of what newcomers may say only so often is in it.
  var counted: Counted { Counted(messages: 1, links: linkCount, mentions: mentionCount) }
}

/// How much of what newcomers may do only so often something is.
struct Counted {
  var messages: Int
  var links: Int
  var mentions: Int
}

extension ReadTransaction {
  /// What somebody has done in this hour once that is added: nil for who is not new. Refused where it would be too much.
  func probation(of caller: Caller, in place: Standing, adding more: Counted) throws(Refusal) -> Probation? {
    guard let account = caller.account, isOnProbation(caller.role, place) else { return nil }
    let newcomers = try newcomers()
    guard let begun = try beginnings(of: account, countingTo: newcomers.messages) else { return nil }
    let grownUpAt = begun.createdAt + Int64(newcomers.days) * 86_400_000
    guard grownUpAt > now || begun.messages < newcomers.messages else { return nil }

    var hour = try probation(of: account) ?? Probation(since: now)
    // A clock that was put back makes nobody wait for longer.
    if !(hour.since...(hour.since + Self.hour - 1)).contains(now) { hour = Probation(since: now) }
    hour.messages += more.messages
    hour.links += more.links
    hour.mentions += more.mentions
    for (limit, count, added) in [
      (Newcomers.Limit.messages, hour.messages, more.messages), (.links, hour.links, more.links),
      (.mentions, hour.mentions, more.mentions),
    ] {
      let most = newcomers.perHour(limit)
      guard added > 0, count > most else { continue }
      // What is too much for any hour has to wait until they are new no longer.
      let end = hour.since + Self.hour
      let until = added > most ? max(grownUpAt, end) : end
      throw .newcomer(limit, most: most, until: until, seconds: Int((until - now + 999) / 1_000))
    }
    return hour
  }

  private static var hour: Int64 { 3_600_000 }

  private func isOnProbation(_ role: Role?, _ place: Standing) -> Bool {
    switch role {
    case nil, .owner, .admin, .moderator, .bot: false
    case .member, .guest: place.forum?.role == nil || place.forum?.role == .member
    }
  }
}
