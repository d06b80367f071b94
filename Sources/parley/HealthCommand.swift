// `parley health`: one request to a server, for container health checks and for people.

import ParleyNetworking
import ParleyWire

enum HealthCommand {
  private static let path = "/healthz"

  static func run(_ arguments: [String]) async -> Int32 {
    do {
      let call = try call(arguments)
      let (status, body) = try await call.answer()
      guard status == .ok else {
        return Outcome(.wrong, "\(call.name) answers \(status.code) \(status.reason)").tell()
      }
      return Outcome(.well, String(decoding: body, as: UTF8.self)).tell()
    } catch let mistake as Settings.Mistake {
      return Outcome(.impossible, mistake.sentence).tell()
    } catch {
      return Outcome(.wrong, "\(error)").tell()
    }
  }

  /// The address that was given; else where `parley serve` with the same settings listens.
  private static func call(_ arguments: [String]) throws -> Call {
    guard arguments.first == "--url" else {
      return try call(Settings(arguments: arguments, environment: Terminal.environment))
    }
    guard arguments.count == 2 else {
      throw Settings.Mistake(sentence: "--url takes one address, and nothing beside it.")
    }
    let url = arguments[1]
    if url.hasPrefix("unix:"), let address = SocketAddress(url) {
      return Call(address: address, host: "localhost", name: url, path: path)
    }
    guard let web = WebAddress(url), ["http", "https"].contains(web.scheme.rawValue),
      let address = try SocketAddress.resolve(host: web.host, port: UInt16(clamping: web.port)).first
    else {
      throw Settings.Mistake(sentence: "--url takes an http:// or https:// address or unix:PATH, not \"\(url)\".")
    }
    return Call(
      address: address, host: web.authority, tls: web.scheme.isSecure ? TLSConfiguration(role: .client(.system)) : nil,
      name: url, path: path)
  }

  private static func call(_ settings: Settings) throws -> Call {
    let text = settings.all(.listen).first ?? Setting.listen.fallback ?? ""
    guard var address = SocketAddress(text) else {
      throw Settings.Mistake(sentence: "--listen is no address: \"\(text)\". --url says whom to ask.")
    }
    // Who listens everywhere is asked here.
    if address.host == "0.0.0.0" || address.host == "::", let port = address.port {
      address = .ipv4(0x7f00_0001, port: port)
    }
    let certificates = try Certificates(settings, data: settings.text(.data) ?? "./data")
    guard address.port != nil, let fingerprint = try certificates?.load().digest else {
      return Call(address: address, host: "localhost", name: "\(address)", path: path)
    }
    return Call(
      address: address, host: "localhost", tls: TLSConfiguration(role: .client(.fingerprint(fingerprint))),
      name: "https://\(address)", path: path)
  }
}
