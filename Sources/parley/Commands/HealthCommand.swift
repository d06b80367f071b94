// `parley health`: requests /readyz of a server. Container images use it as their health check, without curl.

import ParleyJSON
import ParleyNetworking
import ParleyWire

extension Command {
  static let health = Command(
    "health", summary: "check whether a server is healthy", settings: [.json, .url] + Setting.general,
    help: Help.health,
    run: HealthCommand.run)
}

enum HealthCommand {
  private static let path = "/readyz"

  static func run(_ arguments: [String]) async -> Int32 {
    let flag = Setting.json.flag
    return await outcome(arguments.filter { $0 != flag }).report(asJSON: arguments.contains(flag))
  }

  private static func outcome(_ arguments: [String]) async -> Outcome {
    do {
      let request = try request(arguments)
      let (status, body) = try await request.response()
      guard status == .ok else {
        let reason = title(body).map { ": \($0)" } ?? ""
        return Outcome(.failure, "\(request.name) answered \(status.code) \(status.reason)\(reason)")
      }
      return Outcome(.success, String(decoding: body, as: UTF8.self))
    } catch let error as Settings.UsageError {
      return Outcome(.error, error.message)
    } catch {
      return Outcome(.failure, "\(error)")
    }
  }

  /// The title of a problem document; nil for another body, such as a proxy's.
  private static func title(_ body: [UInt8]) -> String? {
    do {
      var object = try JSONValue(parsing: body).object()
      return try object.string("title")
    } catch {
      return nil
    }
  }

  /// The request to the address of `--url`; otherwise to the address of `parley serve` with the same settings.
  private static func request(_ arguments: [String]) throws -> HTTPRequest {
    guard arguments.first == "--url" else {
      return try request(Settings(arguments: arguments, environment: Terminal.environment))
    }
    guard arguments.count == 2 else {
      throw Settings.UsageError(message: "--url takes one address and excludes other arguments.")
    }
    let url = arguments[1]
    if url.hasPrefix("unix:"), let address = SocketAddress(url) {
      return HTTPRequest(address: address, host: "localhost", name: url, path: path)
    }
    guard let web = WebAddress(url), ["http", "https"].contains(web.scheme.rawValue),
      let address = try SocketAddress.resolve(host: web.host, port: UInt16(clamping: web.port)).first
    else {
      throw Settings.UsageError(message: "--url takes an http:// or https:// address or unix:PATH, not \"\(url)\".")
    }
    return HTTPRequest(
      address: address, host: web.authority, tls: web.scheme.isSecure ? TLSConfiguration(role: .client(.system)) : nil,
      name: url, path: path)
  }

  private static func request(_ settings: Settings) throws -> HTTPRequest {
    let text = settings.all(.listen).first ?? Setting.listen.fallback ?? ""
    guard var address = SocketAddress(text) else {
      throw Settings.UsageError(message: "--listen is not an address: \"\(text)\". Use --url instead.")
    }
    // A wildcard address: connect over the loopback interface.
    if address.host == "0.0.0.0" || address.host == "::", let port = address.port {
      address = .ipv4(0x7f00_0001, port: port)
    }
    let certificates = try Certificates(settings, DaemonSettings.addresses(settings), data: settings.dataFolder)
    guard address.port != nil, let fingerprint = try certificates?.load().digest else {
      return HTTPRequest(address: address, host: "localhost", name: "\(address)", path: path)
    }
    return HTTPRequest(
      address: address, host: "localhost", tls: TLSConfiguration(role: .client(.fingerprint(fingerprint))),
      name: "https://\(address)", path: path)
  }
}
