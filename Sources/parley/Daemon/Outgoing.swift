import Community
import ParleyNetworking

/// Everything that the daemon sends to other servers: link previews and webhooks, push messages, mail, sign-ins.
struct Outgoing {
  let requests: OutgoingRequests?
  let push: OutgoingPush?
  let mail: OutgoingMail?
  /// The operator names these, as the mail server, so `--outgoing off` leaves them on.
  let issuers: OutgoingIssuers?
  private var deliveries: [Task<Void, Never>] = []
  private var mailing: Task<Void, Never>?

  init(
    _ settings: DaemonSettings, _ community: Community, share: String, log: @escaping @Sendable (String) -> Void
  ) async throws {
    requests = settings.allowsOutgoing ? try OutgoingRequests(community) : nil
    push = settings.allowsOutgoing ? await OutgoingPush(community, settings.addresses, share: share, log: log) : nil
    mail = try await OutgoingMail.make(settings.mail, community, share: share, log: log)
    issuers = try settings.issuers.map { settings throws(SystemError) in try OutgoingIssuers(settings) }
  }

  mutating func start() {
    if let requests { deliveries.append(Task { await requests.deliverer.start() }) }
    if let push { deliveries.append(Task { await push.deliverer.run() }) }
    mailing = mail.map { mail in Task { await mail.deliverer.run() } }
  }

  /// Ends all deliveries.
  func stop() async {
    for delivery in deliveries { delivery.cancel() }
    await requests?.stop()
    await push?.stop()
    mailing?.cancel()
    mail?.stop()
    issuers?.stop()
    await mailing?.value
  }
}
