import ParleyNetworking
import Web

/// The origin of links that commands print. A command has no HTTP request to derive it from.
enum PublicOrigin {
  /// The origin that `parley serve` has with these settings.
  static func text(_ settings: Settings) throws(Settings.UsageError) -> String {
    let isEncrypted = settings.isOn(.selfSigned) || settings.text(.certificate) != nil
    let listening = (settings.all(.listen) + [Setting.listen.fallback ?? ""]).compactMap { SocketAddress($0) }
    return text(
      Addresses(publicOrigins: try settings.origins(.publicURL)), listening.map { ($0, isEncrypted) })
  }

  /// The public origin, else the first listening address, with `localhost` for a wildcard address.
  static func text(_ addresses: Addresses, _ listening: [(address: SocketAddress, isEncrypted: Bool)]) -> String {
    if let known = addresses.publicOrigins.first { return known.origin }
    guard let (address, isEncrypted) = listening.first(where: { $0.address.port != nil }), let port = address.port
    else {
      return "http://localhost"
    }
    let isEverywhere = ["0.0.0.0", "::"].contains(address.host)
    let text = isEverywhere ? "localhost:\(port)" : "\(address)"
    return "\(isEncrypted ? "https" : "http")://\(text)"
  }
}
