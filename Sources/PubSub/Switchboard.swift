// The followers of one event loop. It is touched on that loop alone.

public import Model

/// Somebody who follows along.
public protocol Follower: AnyObject {
  /// The way in by which they came; nil for nobody.
  var session: ID<Session>? { get }
  func take(_ publication: Publication)
  func take(_ signal: Signal, _ frame: Frame)
  func reconsider(_ change: AccessChange)
  /// Something was lost on its way here.
  func missed()
  /// Their way in has ended.
  func ended()
  /// So late has it become, in milliseconds.
  func tick(_ now: Int64)
  /// Nothing will come any more.
  func hubClosed()
}

public final class Switchboard {
  private let mailbox: Mailbox
  private var followers: [ObjectIdentifier: any Follower] = [:]
  private var audiences: [Signal.Audience: [any Follower]] = [:]
  /// What was taken out of the mailbox, and how far it was passed on.
  private var contents = Mailbox.Contents()
  private var next = 0

  /// What is left to do.
  public enum Rest {
    case nothing
    /// Others have their turn first.
    case more
    /// Nothing will come any more.
    case closed
  }

  /// So many things are passed on before others have their turn.
  private static let atOnce = 64

  public init(_ mailbox: Mailbox) { self.mailbox = mailbox }

  public var count: Int { followers.count }

  public func add(_ follower: any Follower) { followers[ObjectIdentifier(follower)] = follower }

  /// Whoever is removed has unfollowed everything.
  public func remove(_ follower: any Follower) { followers[ObjectIdentifier(follower)] = nil }

  public func follow(_ audience: Signal.Audience, _ follower: any Follower) {
    if audiences[audience] == nil { mailbox.follow(audience) }
    audiences[audience, default: []].append(follower)
  }

  public func unfollow(_ audience: Signal.Audience, _ follower: any Follower) {
    guard let place = audiences[audience]?.firstIndex(where: { $0 === follower }) else { return }
    // The order among them means nothing.
    let last = (audiences[audience]?.count ?? 1) - 1
    audiences[audience]?.swapAt(place, last)
    audiences[audience]?.removeLast()
    if last == 0 {
      audiences[audience] = nil
      mailbox.unfollow(audience)
    }
  }

  /// Passes on what is in the mailbox, a bounded part of it.
  public func deliver() -> Rest {
    if next == contents.postings.count {
      contents = mailbox.take()
      next = 0
    }
    let end = min(next + Self.atOnce, contents.postings.count)
    while next < end {
      deliver(contents.postings[next])
      next += 1
    }
    guard next == contents.postings.count else { return .more }
    let last = contents
    contents = Mailbox.Contents()
    next = 0
    if last.hasMissed { for follower in all { follower.missed() } }
    if let now = last.now { for follower in all { follower.tick(now) } }
    guard last.isClosed else { return .nothing }
    for follower in all { follower.hubClosed() }
    return .closed
  }

  private var all: [any Follower] { Array(followers.values) }

  private func deliver(_ posting: Posting) {
    switch posting {
    case .event(let publication):
      for follower in audiences[.stream(publication.event.stream)] ?? [] { follower.take(publication) }
    case .signal(let signal, let frame):
      for follower in audiences[signal.audience] ?? [] { follower.take(signal, frame) }
    case .access(let change):
      for follower in all { follower.reconsider(change) }
    case .ended(let sessions):
      for follower in all {
        if let session = follower.session, sessions.contains(session) { follower.ended() }
      }
    }
  }
}
