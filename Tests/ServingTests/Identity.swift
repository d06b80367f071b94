import ParleyNetworking

/// A certificate with the server configuration and the client's pin.
struct Identity: Sendable {
  let selfSigned: SelfSigned
  let fingerprint: [UInt8]

  static let garden = Identity(names: ["localhost", "127.0.0.1"])
  static let meadow = Identity(names: ["localhost"])

  init(names: [String]) {
    do {
      selfSigned = try SelfSigned(names: names)
      fingerprint = Certificate.list(fromPEM: selfSigned.certificate).first?.fingerprint ?? []
    } catch {
      preconditionFailure("\(error)")
    }
  }

  var server: TLSConfiguration {
    TLSConfiguration(
      role: .server(
        .init(certificates: selfSigned.certificate, key: selfSigned.key, ticketKeys: .init(repeating: 7, count: 80))))
  }

  var client: TLSConfiguration { TLSConfiguration(role: .client(.fingerprint(fingerprint))) }
}
