import API
import Community
import ParleyCrypto
import ParleyHTTPClient
import ParleyModel
import ParleyNetworking
import ParleyWire
import Web
import WebPush

/// Sends messages to push services, over the client for untrusted URLs: a device names the URL.
struct OutgoingPush {
  let deliverer: PushDeliverer
  private let client: UntrustedClient

  private static let maxReplyBytes = 2_048

  private static var limits: UntrustedLimits {
    var limits = UntrustedLimits()
    limits.timeout = 15_000
    // A few services have all devices.
    limits.maxIdleConnections = PushDeliverer.maxConcurrent
    // The deliverer and tests of devices by their users.
    limits.maxFetches = 2 * PushDeliverer.maxConcurrent
    return limits
  }

  var service: PushService { deliverer.service }

  /// Nil without a public HTTPS URL, which push services require.
  init?(
    _ community: Community, _ addresses: Addresses, share: String, log: @escaping @Sendable (String) -> Void
  ) async {
    guard let origin = addresses.publicOrigins.first(where: { $0.scheme == .https })?.origin else {
      log("Push messages are off: they need an https address of the site in --public-url.")
      return nil
    }
    do {
      let texts = try WebAppRoutes.readLanguages("\(share)/Public/lang").pushTexts
      let client = try UntrustedClient(Invocation.outgoingPolicy, limits: Self.limits)
      self.client = client
      let service = try PushService(
        try await community.loadPushKey(), origin: origin, texts: texts, examine: { Self.examine($0, client) },
        send: { await Self.send($0, over: client) })
      deliverer = PushDeliverer(community, service, log: log)
    } catch {
      log("Push messages are off: \(error)")
      return nil
    }
  }

  func stop() async {
    await deliverer.stop()
    client.close()
  }

  private static func examine(_ endpoint: String, _ client: UntrustedClient) -> PushService.Address {
    if client.address(of: endpoint, requiresTLS: true) != nil { return .accepted }
    return WebAddress(endpoint)?.scheme == .https ? .refused : .invalid
  }

  private static func send(_ request: PushRequest, over client: UntrustedClient) async -> PushOutcome {
    var fields: Fields = ["User-Agent": "Parley"]
    for (name, value) in request.fields { fields.add(name, value) }
    do throws(UntrustedFault) {
      let reply = try await client.post(request.body, fields, to: request.endpoint, maxBytes: maxReplyBytes)
      let seconds = reply.retryAfter(at: Int(Clock.wall() / 1_000_000_000))
      return PushOutcome(status: reply.status, retryAfter: seconds, body: reply.body)
    } catch {
      return .unreachable
    }
  }
}
