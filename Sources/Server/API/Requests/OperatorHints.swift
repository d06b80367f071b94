import ParleyWire
import Synchronization
import Web

/// Log lines about probable mistakes of the settings, with the setting to write. Each appears once per process, at the
/// first request that shows the mistake.
final class OperatorHints: Sendable {
  private let hasSeenProxy = Atomic(false)
  private let hasSeenOrigin = Atomic(false)
  private let log: @Sendable (String) -> Void

  init(log: @escaping @Sendable (String) -> Void) { self.log = log }

  /// Notices a proxy that is not trusted.
  func examine(_ fields: Fields, _ server: Context) {
    guard !hasSeenProxy.load(ordering: .relaxed), let peer = server.untrustedProxy(fields),
      !hasSeenProxy.exchange(true, ordering: .relaxed)
    else { return }
    log(
      "\(peer) sends X-Forwarded headers and is not a trusted proxy, so they are ignored. If it is your proxy, all users "
        + "behind it count as one address: set --trusted-proxy \(peer) (PARLEY_TRUSTED_PROXY).")
  }

  /// Notices a page of the site itself whose origin the server does not know. Browsers mark requests of other sites.
  func examineForeignOrigin(_ fields: Fields, _ server: Context) {
    guard fields["sec-fetch-site"] ?? "same-origin" == "same-origin",
      let origin = fields["origin"].flatMap({ WebAddress(origin: $0)?.origin }),
      !hasSeenOrigin.exchange(true, ordering: .relaxed)
    else { return }
    log(
      "A page of \(origin) was refused a change, since the site is \(server.origin). If users open the site at \(origin), "
        + "set --public-url \(origin) (PARLEY_PUBLIC_URL); behind a proxy also --trusted-proxy.")
  }
}
