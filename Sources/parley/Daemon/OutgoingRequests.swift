import API
import Community
import ParleyHTTPClient
import ParleyNetworking
import Previews
import Webhooks

/// Requests of the daemon to servers of others: link previews and outgoing webhooks.
struct OutgoingRequests {
  let previews: LinkPreviews
  let deliverer: WebhookDeliverer
  private let clients: [UntrustedClient]

  init(_ community: Community) throws(SystemError) {
    let policy = Invocation.outgoingPolicy
    let clock: @Sendable () -> Int64 = { Clock.wall() / 1_000_000 }
    let (pages, endpoints) = (
      try UntrustedClient(policy), try UntrustedClient(policy, limits: WebhookDeliverer.clientLimits)
    )
    previews = LinkPreviews(pages, now: clock)
    deliverer = WebhookDeliverer(community, endpoints, clock: clock)
    clients = [pages, endpoints]
  }

  var webhooks: OutgoingWebhooks {
    let deliverer = deliverer
    return OutgoingWebhooks(url: { deliverer.url(of: $0) }, examine: { await deliverer.examine($0) })
  }

  func stop() async {
    await deliverer.stop()
    for client in clients { client.close() }
  }
}
