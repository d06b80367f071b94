import ParleyNetworking
import ParleyWire

/// The server under load and the requested pages.
struct LoadTarget: Sendable {
  let pages: [WebAddress]
  let address: SocketAddress
  let tls: TLSConfiguration?
  /// The name for SNI and certificate validation; nil for an IP address.
  let serverName: String?

  /// Resolves the host name.
  init(_ texts: [String], trust: TLSConfiguration.Trust) throws {
    guard let text = texts.first else { throw UsageError("The URL is missing.") }
    pages = try texts.map { text in
      guard let page = WebAddress(text) else { throw UsageError("\(text) is not a valid URL.") }
      return page
    }
    guard let first = pages.first, pages.allSatisfy({ $0.origin == first.origin }),
      let port = UInt16(exactly: first.port)
    else { throw UsageError("All URLs must be of one server.") }
    guard let address = try SocketAddress.resolve(host: first.host, port: port).first else {
      throw UsageError("\(text) has no IP address.")
    }
    self.address = address
    tls = first.scheme.isSecure ? TLSConfiguration(role: .client(trust)) : nil
    serverName = SocketAddress(host: first.host, port: port) == nil ? first.host : nil
  }

  /// Encodes a request.
  func request(
    _ method: Method, _ page: WebAddress, _ fields: [(name: String, value: String)], body: [UInt8] = []
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("\(method.name) \(page.target) HTTP/1.1\r\nHost: \(page.authority)\r\n")
    for field in fields { bytes.append("\(field.name): \(field.value)\r\n") }
    if !body.isEmpty || method == .post || method == .put { bytes.append("Content-Length: \(body.count)\r\n") }
    bytes.append("\r\n")
    bytes.append(contentsOf: body)
    return bytes
  }
}
