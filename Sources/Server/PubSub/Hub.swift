// Where what was committed becomes known to those who follow along. There is one mailbox for each event loop: the hub
// knows which audiences a loop has and puts into its mailbox what concerns it, so that a batch costs one job for each loop
// and nothing for each client.
//
// Whoever follows declares it first (`Mailbox.follow`) and reads the log afterwards. What is published in between is in
// the mailbox, and what was published before is in what was read.

public import ParleyModel
import Synchronization

public final class Hub: Sendable {
  private struct State {
    var mailboxes: [Mailbox] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let typing = Mutex(TypingBoard())
  private let presence = Mutex(PresenceBoard())
  private let frame: @Sendable ([UInt8]) -> Frame

  /// `frame` makes what is sent out of JSON, once for all.
  public init(frame: @escaping @Sendable ([UInt8]) -> Frame) {
    self.frame = frame
  }

  public func makeFrame(_ json: [UInt8]) -> Frame { frame(json) }

  // MARK: The loops

  /// One for each loop, which waits at its bell.
  public func open() -> Mailbox {
    let mailbox = Mailbox()
    let isClosed = state.withLock { state in
      state.mailboxes.append(mailbox)
      return state.isClosed
    }
    if isClosed { mailbox.close() }
    return mailbox
  }

  /// Everyone who waits for something is told that nothing will come.
  public func close() {
    let mailboxes = state.withLock { state in
      state.isClosed = true
      return state.mailboxes
    }
    for mailbox in mailboxes { mailbox.close() }
  }

  private var mailboxes: [Mailbox] { state.withLock { $0.mailboxes } }

  // MARK: Publishing

  /// Whether somebody follows it, so that it has to be read and encoded at all.
  public func hasAudience(_ audience: Signal.Audience) -> Bool {
    mailboxes.contains { $0.follows(audience) }
  }

  /// Of these events, those that somebody follows.
  public func wanted(_ events: [Event]) -> [Event] {
    let mailboxes = self.mailboxes
    return events.filter { event in mailboxes.contains { $0.follows(.stream(event.stream)) } }
  }

  /// Hands on, in this order, to each loop what concerns it.
  public func publish(_ postings: [Posting]) {
    guard !postings.isEmpty else { return }
    for mailbox in mailboxes { mailbox.put(postings) }
  }

  /// What was committed can't be told: everyone looks into the log.
  public func lose() {
    for mailbox in mailboxes { mailbox.lose() }
  }

  public func publish(_ signal: Signal) {
    guard hasAudience(signal.audience) else { return }
    publish([.signal(signal, frame(signal.jsonBytes))])
  }

  // MARK: What passes

  /// Somebody writes. Told once, however often it is said, and ended by itself.
  public func type(_ account: ID<Account>, in conversation: ID<Conversation>, now: Int64) {
    let isNew = typing.withLock { $0.begin(account, in: conversation, now: now) }
    if isNew { publish(.typing(conversation, by: account, isTyping: true)) }
  }

  /// They have said it, or are gone.
  public func stopTyping(_ account: ID<Account>, in conversation: ID<Conversation>? = nil) {
    for conversation in typing.withLock({ $0.end(account, in: conversation) }) {
      publish(.typing(conversation, by: account, isTyping: false))
    }
  }

  /// One device more, or one less, or one that is looked away from.
  public func note(_ device: PresenceBoard.Device, of account: ID<Account>, _ presence: Signal.Presence, now: Int64) {
    if let told = self.presence.withLock({ $0.note(device, of: account, presence, now: now) }) {
      publish(.presence(account, told, lastSeenAt: told == .online ? nil : now))
    }
  }

  /// They no longer want to be seen.
  public func hide(_ account: ID<Account>) {
    if presence.withLock({ $0.hide(account) }) { publish(.presence(account, .offline, lastSeenAt: nil)) }
  }

  /// Who is here now.
  public var present: [ID<Account>] { presence.withLock { $0.present } }

  /// How somebody is here, if they are.
  public func presence(of account: ID<Account>) -> Signal.Presence? { presence.withLock { $0.told(of: account) } }

  /// Time passes: what ends by itself ends. Called about once a second; `now` is in milliseconds.
  public func tick(now: Int64) {
    for (account, conversation) in typing.withLock({ $0.expire(now: now) }) {
      publish(.typing(conversation, by: account, isTyping: false))
    }
    for (account, presence) in presence.withLock({ $0.settle(now: now) }) {
      publish(.presence(account, presence, lastSeenAt: presence == .online ? nil : now))
    }
    for mailbox in mailboxes { mailbox.tick(now) }
  }
}
