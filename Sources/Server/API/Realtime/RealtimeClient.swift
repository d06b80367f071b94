// The user on a WebSocket, a visitor until `hello`. Its commands call the same functions of the community as the
// endpoints, against the same rate limits.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import PubSub
import Web

struct RealtimeClient {
  private(set) var caller: Caller
  private let address: IPAddress?
  private let limiter: RateLimiter
  private let live: LoopBroadcasts
  /// The connection whose presence the hub counts.
  private let connection: ObjectIdentifier
  private let openedAt: Int64
  /// The time at which the use of the session was last stored.
  private var usedAt: Int64

  private var view: CommunityView { live.view }
  private var community: Community { live.view.community }

  init(_ origin: RealtimeSocket.Origin, _ live: LoopBroadcasts, on socket: any WebSocket) {
    caller = origin.caller
    address = origin.address
    limiter = origin.api.limiter
    self.live = live
    connection = ObjectIdentifier(socket)
    openedAt = live.now
    usedAt = live.now
  }

  // MARK: Authentication

  /// Throws if the session has ended.
  func checkSession() throws(Refusal) { try view.checkSession(of: caller) }

  /// Throws unless the user may sign in.
  func checkAdmitted() throws(Refusal) { try view.checkAdmitted(caller) }

  /// Authenticates the client with a token. Returns whether it was a visitor until now.
  mutating func authenticate(_ token: String) throws(Refusal) -> Bool {
    guard let known = try view.authenticate(token, from: address?.networkText) else { throw .unauthenticated }
    guard known.scope >= .read else { throw .forbidden }
    guard caller.user == nil || caller.user == known.user else { throw .conflict }
    defer { caller = known }
    return caller.user == nil
  }

  /// Whether a visitor has exceeded the authentication timeout.
  func isUnidentified(at now: Int64) -> Bool {
    caller.user == nil && now - openedAt >= RealtimeLimits.identification
  }

  /// Notes twice a day that the session is in use: it would end while its only use is this connection.
  mutating func keepSession(at now: Int64) { noteUse(at: now, minInterval: RealtimeLimits.sessionUse) }

  /// Notes that the user writes, as a request over HTTP does.
  mutating func noteWrite() { noteUse(at: live.now, minInterval: Community.touchInterval) }

  private mutating func noteUse(at now: Int64, minInterval: Int64) {
    guard now - usedAt >= minInterval else { return }
    usedAt = now
    community.noteUse(by: caller, from: address?.networkText)
  }

  // MARK: Presence

  func arrive() {
    guard let user = caller.user, caller.scope >= .write, caller.forums == nil else { return }
    community.hub.note(connection, of: user, showing: [])
    do throws(Refusal) {
      guard try view.showsPresence(user) else { return }
      try updatePresence(.online, of: user)
    } catch {
      // Sends no presence if the user's setting can't be read.
    }
  }

  func leave() {
    guard let user = caller.user, caller.forums == nil else { return }
    community.hub.stopTyping(user)
    community.hub.note(connection, of: user, showing: nil)
    community.hub.update(connection, of: user, .offline)
  }

  private func updatePresence(_ presence: Signal.Presence, of user: ID<User>) throws(Refusal) {
    community.hub.update(connection, of: user, presence)
    // Hides the presence if the user has disabled it meanwhile: that change did not find this connection.
    guard try view.showsPresence(user) else { return community.hub.hide(user) }
  }

  // MARK: Signals

  func sendTyping(in conversation: ID<Conversation>) throws {
    try count(.signalling)
    try view.requireSecondFactor(of: caller)
    try view.sendTyping(in: conversation, by: caller)
  }

  func setPresence(_ presence: Signal.Presence, showing conversations: [ID<Conversation>]) throws {
    try count(.signalling)
    let user = try caller.requireUser(.write)
    try caller.requireWholeSite()
    community.hub.note(connection, of: user, showing: presence == .online ? Set(conversations) : nil)
    guard try view.showsPresence(user) else { return }
    try updatePresence(presence, of: user)
  }

  func publish(_ data: JSONRaw, as app: String) throws {
    guard data.bytes.count <= RealtimeLimits.appBytes else {
      throw Refusal.invalid("data", .tooLong(limit: RealtimeLimits.appBytes))
    }
    try count(.signalling)
    try view.requireSecondFactor(of: caller)
    community.hub.publish(.app(app, from: try view.appSender(by: caller), data: data))
  }

  // MARK: Changes

  /// Counts against the user's rate limit, which all connections share.
  func count(_ kind: RateLimitKind) throws(Problem) {
    try limiter.count(kind, by: caller, at: address, now: live.now)
  }

  /// Runs a change. Returns the members of its answer after the commit is durable.
  func change(_ command: RealtimeCommand) async throws -> (inout JSONWriter) -> Void {
    if community.store.isDiskFull, !command.worksOnFullDisk { throw Refusal.diskFull }
    try view.requireSecondFactor(of: caller)
    switch command {
    case .send(let draft, let conversation):
      let posted = try await community.postMessage(draft, in: conversation, by: caller)
      if posted.isPrivate { limiter.refund(.sending, by: caller, at: address, now: live.now) }
      let missed = try await view.missed(in: conversation, after: draft.catchUpAfter, for: caller)
      return { json in
        json.field("created", posted.isNew)
        json.field("message", posted.message)
        if let missed {
          json.object("catch_up") { json in missed.writeFields(to: &json, in: ListName(missedIn: conversation)) }
        }
      }
    case .edit(let id, let change):
      let message = try await community.editMessage(id, change, by: caller)
      return { $0.field("message", message) }
    case .delete(let id):
      let message = try await community.deleteMessage(id, by: caller)
      return { $0.field("message", message) }
    case .removeAction(let id, let type):
      try await community.removeAction(id, as: type, by: caller)
      return { _ in }
    case .setAction(let id, let type):
      let message = try await community.setAction(id, as: type, by: caller)
      return { $0.field("message", message) }
    case .read(let conversation, let message):
      let position = try await community.advanceReadPosition(.read, in: conversation, to: message, by: caller)
      return { $0.field("read_position", position) }
    case .hello, .subscribe, .unsubscribe, .typing, .presence, .publish, .ping: return { _ in }
    }
  }
}
