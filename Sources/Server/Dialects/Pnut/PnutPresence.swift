import Community
import ParleyJSON
import ParleyModel
import PubSub
import Web

/// The presence of a user: the status text, or the state of the devices.
struct PnutPresence: JSONWritable {
  let user: PnutUser
  let presence: String
  let lastSeenAt: Int64?

  fileprivate static let online = "online"
  fileprivate static let offline = "offline"
  /// Lifetime of a text in seconds, by default and at most.
  fileprivate static let lifetime = 900
  fileprivate static let maxLifetime = 7 * 86_400

  func write(to json: inout JSONWriter) {
    json.object { json in
      let summary = user.user.summary
      json.field("id", summary.id)
      json.field("username", summary.name ?? "")
      json.field("name", summary.displayName ?? summary.name ?? "")
      json.object("avatar_image") { json in json.field("url", user.origin + summary.avatar) }
      json.field("presence", presence)
      if let lastSeenAt { json.field("last_seen_at", PnutCall.time(lastSeenAt)) }
    }
  }
}

extension PnutCall {
  /// The presence of the users that the caller follows, without those that are offline.
  func listPresence() throws -> Response {
    let followed = try view.listFollowing(.me, PageRequest(limit: IDRange.maxCount), for: caller).items
    let presences = presences(of: followed)
    let users = try shown(followed)
    return .envelope(
      users.compactMap { shown -> PnutPresence? in
        guard let presence = presences[shown.user.summary.id], presence != PnutPresence.offline else { return nil }
        return PnutPresence(user: shown, presence: presence, lastSeenAt: shown.user.standing?.lastSeenAt)
      })
  }

  func getPresence() throws -> Response { .envelope(try presence(of: try view.getUser(try user(), for: caller))) }

  /// Sets the status text for a time. The words of the states end it: the devices of the user have the state itself.
  func setPresence() async throws -> Response {
    try requireSelf()
    let body = try await body()
    let text = try body.text("presence") ?? query.text("presence") ?? ""
    let now = try view.getTime() / 1_000
    var change = UserChange()
    if ["", "0", "1", PnutPresence.online, PnutPresence.offline].contains(text.lowercased()) {
      change.fields.set(\.statusText, to: nil)
      change.fields.set(\.statusEmoji, to: nil)
    } else {
      let end = try body.number("expiration") ?? query.number("expiration") ?? Int(now) + PnutPresence.lifetime
      guard end > Int(now), end <= Int(now) + PnutPresence.maxLifetime else {
        throw Refusal.invalid("expiration", .outOfRange(1...PnutPresence.maxLifetime))
      }
      change.fields.set(\.statusText, to: text)
      change.fields.set(\.statusEmoji, to: nil)
      change.fields.set(\.statusExpiresAt, to: Int64(end) * 1_000)
    }
    return .envelope(try presence(of: try await community.updateUser(.me, change, by: caller)))
  }

  private func presence(of user: User) throws -> PnutPresence {
    let presence = presences(of: [user])[user.summary.id] ?? PnutPresence.offline
    guard let shown = try shown([user]).first else { throw Refusal.notFound }
    return PnutPresence(user: shown, presence: presence, lastSeenAt: user.standing?.lastSeenAt)
  }

  /// The status texts, or the states of devices for callers that may follow them.
  func presences(of users: [User]) -> [ID<User>: String] {
    let seesDevices = caller.mayFollowPresence && caller.scope >= .read
    var found: [ID<User>: String] = [:]
    for user in users {
      let summary = user.summary
      let status = [summary.statusEmoji, summary.statusText].compactMap(\.self).joined(separator: " ")
      let state = seesDevices ? state(of: summary.id) : PnutPresence.offline
      found[summary.id] = status.isEmpty ? state : status
    }
    return found
  }

  private func state(of user: ID<User>) -> String {
    switch community.hub.presence(of: user) {
    case .online: PnutPresence.online
    case .away: "idle"
    case .offline, nil: PnutPresence.offline
    }
  }
}
