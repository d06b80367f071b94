import ParleyNetworking
import ParleyWire

/// The server that is loaded, and the pages asked of it.
struct Target: Sendable {
  let pages: [WebAddress]
  let address: SocketAddress
  let tls: TLSConfiguration?
  /// For the server's choice of certificate and for checking it; a number is no name.
  let serverName: String?

  /// Looks up the name.
  init(_ texts: [String], trust: TLSConfiguration.Trust) throws {
    guard let text = texts.first else { throw UsageError("Which URL?") }
    pages = try texts.map { text in
      guard let page = WebAddress(text) else { throw UsageError("\(text) is no URL.") }
      return page
    }
    guard let first = pages.first, pages.allSatisfy({ $0.origin == first.origin }),
      let port = UInt16(exactly: first.port)
    else { throw UsageError("All URLs must be of one server.") }
    guard let address = try SocketAddress.resolve(host: first.host, port: port).first else {
      throw UsageError("\(text) has no address.")
    }
    self.address = address
    tls = first.scheme.isSecure ? TLSConfiguration(role: .client(trust)) : nil
    serverName = SocketAddress(host: first.host, port: port) == nil ? first.host : nil
  }

  /// A whole request.
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
