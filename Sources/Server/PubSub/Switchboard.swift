// The followers of one event loop. It is touched on that loop alone.

public import ParleyModel

/// Somebody who follows along.
public protocol Follower: AnyObject {
  /// The way in by which they came; nil for nobody.
  var session: ID<Session>? { get }
  func take(_ publication: Publication)
  /// Several at once, of a stream that is the only one of all that is told here at the moment.
  func take(_ run: Run)
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

extension Follower {
  public func take(_ run: Run) {
    for publication in run.publications { take(publication) }
  }
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

  public func add(_ follower: any Follower) {
    if followers.isEmpty { mailbox.attend(true) }
    followers[ObjectIdentifier(follower)] = follower
  }

  /// Whoever is removed has unfollowed everything.
  public func remove(_ follower: any Follower) {
    followers[ObjectIdentifier(follower)] = nil
    if followers.isEmpty { mailbox.attend(false) }
  }

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

  private func reach(_ audience: Signal.Audience) -> Int { audiences[audience]?.count ?? 0 }

  /// Passes on what is in the mailbox, a bounded part of it.
  public func deliver() -> Rest {
    if next == contents.postings.count {
      contents = mailbox.take()
      next = 0
      // First of all: what was lost may have been of somebody's rights, and what is here may have come later.
      if contents.hasMissed { for follower in all { follower.missed() } }
    }
    pass(min(next + Self.atOnce, contents.postings.count))
    guard next == contents.postings.count else { return .more }
    let last = contents
    contents = Mailbox.Contents()
    next = 0
    if let now = last.now { for follower in all { follower.tick(now) } }
    guard last.isClosed else { return .nothing }
    for follower in all { follower.hubClosed() }
    return .closed
  }

  private var all: [any Follower] { Array(followers.values) }

  /// What is in the mailbox up to there. Events that follow each other are put together.
  private func pass(_ end: Int) {
    var events: [Publication] = []
    func passEvents() {
      deliver(events)
      events = []
    }
    while next < end {
      switch contents.postings[next] {
      case .event(let publication): events.append(publication)
      case .signal(let signal, let frame):
        passEvents()
        for follower in audiences[signal.audience] ?? [] { follower.take(signal, frame) }
      case .access(let change):
        passEvents()
        for follower in all { follower.reconsider(change) }
      case .ended(let sessions):
        passEvents()
        for follower in all {
          if let session = follower.session, sessions.contains(session) { follower.ended() }
        }
      }
      next += 1
    }
    passEvents()
  }

  private func deliver(_ publication: Publication) {
    for follower in audiences[.stream(publication.event.stream)] ?? [] { follower.take(publication) }
  }

  /// Events one after the other. Whoever follows none of their streams but the one that most follow gets its run at once.
  private func deliver(_ events: [Publication]) {
    guard events.count > 1 else { return events.forEach(deliver) }
    let streams = Dictionary(grouping: events, by: \.event.stream)
    let most = streams.filter { $0.value.count > 1 }.max { reach(.stream($0.key)) < reach(.stream($1.key)) }
    guard let (stream, publications) = most, let audience = audiences[.stream(stream)],
      let run = Run(of: stream, publications)
    else { return events.forEach(deliver) }
    var others: Set<ObjectIdentifier> = []
    for other in streams.keys where other != stream {
      for follower in audiences[.stream(other)] ?? [] { others.insert(ObjectIdentifier(follower)) }
    }
    var both: [any Follower] = []
    for follower in audience {
      if others.contains(ObjectIdentifier(follower)) { both.append(follower) } else { follower.take(run) }
    }
    for publication in events {
      let followers = publication.event.stream == stream ? both : audiences[.stream(publication.event.stream)] ?? []
      for follower in followers { follower.take(publication) }
    }
  }
}
