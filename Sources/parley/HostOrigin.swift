import ParleyNetworking
import Web

/// The address in the links that the host hands on: no request says there how people reach the place.
enum HostOrigin {
  /// What `parley serve` with the same settings would say.
  static func text(_ settings: Settings) throws(Settings.Mistake) -> String {
    let isEncrypted = settings.isOn(.selfSigned) || settings.text(.certificate) != nil
    let listening = (settings.all(.listen) + [Setting.listen.fallback ?? ""]).compactMap { SocketAddress($0) }
    return text(
      Addresses(publicOrigins: try settings.origins(.publicURL)), listening.map { ($0, isEncrypted) })
  }

  /// The public one; else where the daemon listens, and this machine for what listens everywhere.
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
