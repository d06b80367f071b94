// The sockets of the daemon: inherited from the service manager, or bound to the addresses of the settings.

import ParleyNetworking
import Serving
import Web

struct DaemonSockets {
  let main: [ListeningSocket]
  /// Sockets for plain HTTP, which redirects to the TLS address.
  let redirects: [ListeningSocket]
  let metrics: ListeningSocket?

  init(_ settings: Settings) throws {
    let inherited = ServiceManager.inheritedSockets()
    let open = inherited.filter { !$0.isRedirect }.map(\.socket)
    var addresses = settings.all(.listen)
    if open.isEmpty, addresses.isEmpty { addresses = [Setting.listen.fallback ?? ""] }
    main = try open + addresses.map { try Self.bind($0, .listen, settings) }
    redirects =
      try inherited.filter(\.isRedirect).map(\.socket)
      + settings.all(.redirect).map { try Self.bind($0, .redirect, settings) }
    metrics = try settings.text(.metricsListen).map { try Self.bind($0, .metricsListen, settings) }
  }

  private static func bind(_ text: String, _ setting: Setting, _ settings: Settings) throws -> ListeningSocket {
    guard let address = SocketAddress(text) else { throw settings.noAddress(setting, text) }
    do {
      return try ListeningSocket(binding: address)
    } catch {
      throw Settings.UsageError(message: "\(error). Choose another address with \(setting.flag).")
    }
  }

  /// The main sockets, with TLS on those of TCP.
  func endpoints(tls: TLSConfiguration?) -> [Server.Configuration.Endpoint] {
    main.map { .init($0, tls: $0.address.port == nil ? nil : tls) }
  }

  /// The names of a self-signed certificate.
  func certificateNames(_ addresses: Addresses) -> [String] {
    var names = addresses.publicOrigins.map(\.host) + ["localhost", "127.0.0.1", "::1"]
    for socket in main where socket.address.port != nil { names.append(socket.address.host) }
    var seen: Set<String> = []
    return names.filter { $0 != "0.0.0.0" && $0 != "::" && seen.insert($0).inserted }
  }
}

extension InheritedSocket {
  /// `FileDescriptorName=` of a socket that redirects plain HTTP to the TLS address.
  static let redirectName = "redirect"

  fileprivate var isRedirect: Bool { name == Self.redirectName }
}
