// The hub publishes committed events to subscribers. Each event loop has one mailbox. The hub knows the audiences of
// each loop and enqueues only matching broadcasts, so a batch costs one wake-up per loop and no work per client.
//
// A client subscribes first (`Mailbox.subscribe`) and reads the log afterwards. Events published in between are in the
// mailbox; earlier events are in the log page.

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
  /// Devices in the foreground, also of users who hide their presence.
  private let devices = Mutex<[ID<User>: [PresenceBoard.Device: Set<ID<Conversation>>]]>([:])
  private let time = Mutex(Time())
  private let frame: @Sendable (_ json: [UInt8], _ isCompressed: Bool) -> Frame
  /// The number of subscribers that negotiated compression.
  private let compressedCount = Atomic<Int>(0)

  /// `frame` encodes JSON as a frame, once for all recipients. Compression is most of its work, so frames are compressed
  /// only while a subscriber has negotiated it.
  public init(frame: @escaping @Sendable (_ json: [UInt8], _ isCompressed: Bool) -> Frame) {
    self.frame = frame
  }

  public func makeFrame(_ json: [UInt8]) -> Frame { frame(json, compressedCount.load(ordering: .relaxed) > 0) }

  public func frames(of event: DeliveredEvent, _ cursor: String) -> EventFrames {
    EventFrames(event.jsonBytes, cursor: cursor) { self.makeFrame($0) }
  }

  /// A subscriber with compression was added. It may receive frames without compression that were made before.
  public func addCompressed() { compressedCount.add(1, ordering: .relaxed) }

  public func removeCompressed() { compressedCount.subtract(1, ordering: .relaxed) }

  // MARK: The loops

  /// Creates the mailbox of an event loop. The loop waits on `Mailbox.wakeUps`.
  public func open() -> Mailbox {
    let mailbox = Mailbox()
    let isClosed = state.withLock { state in
      state.mailboxes.append(mailbox)
      return state.isClosed
    }
    if isClosed { mailbox.close() }
    return mailbox
  }

  /// Closes all mailboxes. Subscribers are notified with `hubClosed`.
  public func close() {
    let mailboxes = state.withLock { state in
      state.isClosed = true
      return state.mailboxes
    }
    for mailbox in mailboxes { mailbox.close() }
  }

  private var mailboxes: [Mailbox] { state.withLock { $0.mailboxes } }

  // MARK: Publishing

  /// Whether the audience has a subscriber. Without one, events are neither read nor encoded.
  public func hasAudience(_ audience: Signal.Audience) -> Bool {
    mailboxes.contains { $0.hasAudience(audience) }
  }

  /// The events whose stream has a subscriber.
  public func subscribed(_ events: [Event]) -> [Event] {
    let mailboxes = self.mailboxes
    return events.filter { event in mailboxes.contains { $0.hasAudience(.stream(event.stream)) } }
  }

  /// Enqueues the broadcasts, in order, in the mailbox of each loop with a matching audience.
  public func publish(_ broadcasts: [Broadcast]) {
    guard !broadcasts.isEmpty else { return }
    for mailbox in mailboxes { mailbox.put(broadcasts) }
  }

  /// Reports that committed events were not published. All subscribers catch up from the log.
  public func reportLoss() {
    for mailbox in mailboxes { mailbox.reportLoss() }
  }

  public func publish(_ signal: Signal) {
    guard hasAudience(signal.audience) else { return }
    publish([.signal(signal, makeFrame(signal.jsonBytes))])
  }

  // MARK: The time

  /// The hub's time in milliseconds. It advances every second, with or without subscribers.
  private struct Time {
    /// Monotonic.
    var now: Int64 = 0
    /// Since 1970.
    var wall: Int64 = 0
  }

  /// The monotonic time in milliseconds, which typing, presence and the limits of sockets share.
  public var now: Int64 { time.withLock { $0.now } }

  /// Milliseconds since 1970.
  public var wall: Int64 { time.withLock { $0.wall } }

  /// Advances the time. An earlier time than the known one is ignored.
  public func advance(to now: Int64, wall: Int64) {
    time.withLock { if now >= $0.now { $0 = Time(now: now, wall: wall) } }
  }

  // MARK: Typing and presence

  /// Publishes that a user started typing. Repeated calls publish one signal; it expires after `TypingBoard.time`.
  public func startTyping(_ user: ID<User>, in conversation: ID<Conversation>) {
    let now = self.now
    let isNew = typing.withLock { $0.begin(user, in: conversation, now: now) }
    if isNew { publish(.typing(conversation, by: user, isTyping: true)) }
  }

  /// Publishes that a user stopped typing, in one conversation or in all.
  public func stopTyping(_ user: ID<User>, in conversation: ID<Conversation>? = nil) {
    for conversation in typing.withLock({ $0.end(user, in: conversation) }) {
      publish(.typing(conversation, by: user, isTyping: false))
    }
  }

  /// Records the presence of a connected device; `.offline` removes the device.
  public func update(_ device: PresenceBoard.Device, of user: ID<User>, _ presence: Signal.Presence) {
    let (now, wall) = time.withLock { ($0.now, $0.wall) }
    if let published = self.presence.withLock({ $0.update(device, of: user, presence, now: now) }) {
      publish(.presence(user, published, lastSeenAt: published == .online ? nil : wall))
    }
  }

  /// Records the conversations that a connected device in the foreground shows; nil for a device in the background. Nothing
  /// is published.
  public func note(_ device: PresenceBoard.Device, of user: ID<User>, showing conversations: Set<ID<Conversation>>?) {
    devices.withLock { devices in
      devices[user, default: [:]][device] = conversations
      if devices[user]?.isEmpty == true { devices[user] = nil }
    }
  }

  /// Whether a connected device of the user is in the foreground.
  public func isInUse(by user: ID<User>) -> Bool { devices.withLock { $0[user] != nil } }

  /// Whether a connected device of the user shows the conversation in the foreground.
  public func isShown(_ conversation: ID<Conversation>, to user: ID<User>) -> Bool {
    devices.withLock { $0[user]?.values.contains { $0.contains(conversation) } ?? false }
  }

  /// Publishes the user as offline, after the user turned presence off.
  public func hide(_ user: ID<User>) {
    if presence.withLock({ $0.hide(user) }) { publish(.presence(user, .offline, lastSeenAt: nil)) }
  }

  /// Users with published presence.
  public var present: [ID<User>] { presence.withLock { $0.present } }

  /// The published presence of a user, or nil if absent.
  public func presence(of user: ID<User>) -> Signal.Presence? { presence.withLock { $0.published(of: user) } }

  /// Advances the time, expires typing and presence and forwards the time to subscribers. Called about once a second.
  public func tick(now: Int64, wall: Int64) {
    advance(to: now, wall: wall)
    for (user, conversation) in typing.withLock({ $0.expire(now: now) }) {
      publish(.typing(conversation, by: user, isTyping: false))
    }
    for (user, presence) in presence.withLock({ $0.expire(now: now) }) {
      publish(.presence(user, presence, lastSeenAt: presence == .online ? nil : wall))
    }
    for mailbox in mailboxes { mailbox.tick(now) }
  }
}
