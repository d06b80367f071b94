import API
import Community
import ParleyHTTPClient
import ParleyNetworking
import Previews
import Webhooks

/// Requests of the daemon to servers of others: link previews, outgoing webhooks and slash commands.
struct OutgoingRequests {
  let previews: LinkPreviews
  let deliverer: WebhookDeliverer
  private let sender: CommandSender
  private let clients: [UntrustedClient]

  init(_ community: Community) throws(SystemError) {
    let policy = Invocation.outgoingPolicy
    let clock: @Sendable () -> Int64 = { Clock.wall() / 1_000_000 }
    let (pages, endpoints) = (
      try UntrustedClient(policy), try UntrustedClient(policy, limits: WebhookDeliverer.clientLimits)
    )
    let programs = try UntrustedClient(policy, limits: CommandSender.clientLimits)
    previews = LinkPreviews(pages, now: clock)
    deliverer = WebhookDeliverer(community, endpoints, clock: clock)
    sender = CommandSender(programs, clock: clock)
    clients = [pages, endpoints, programs]
  }

  var webhooks: OutgoingWebhooks {
    let deliverer = deliverer
    return OutgoingWebhooks(url: { deliverer.url(of: $0) }, examine: { await deliverer.examine($0) })
  }

  var commands: OutgoingCommands {
    let sender = sender
    return OutgoingCommands { await sender.send($0) }
  }

  func stop() async {
    await deliverer.stop()
    for client in clients { client.close() }
  }
}
