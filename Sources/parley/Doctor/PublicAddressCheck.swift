import ParleyHTTPClient
import ParleyJSON
import ParleyNetworking
import ParleyWire

/// Checks one public address of the site from the outside: name, port, certificate, proxy, WebSocket and upload.
struct PublicAddressCheck {
  private let origin: WebAddress
  private let code: String
  private let facts: DoctorFacts
  private let now: Int64

  private static let timeout: Duration = .seconds(15)
  private static let uploadTimeout: Duration = .seconds(60)
  /// A client address of RFC 5737 that no machine has.
  private static let foreignAddress = "192.0.2.77"
  /// The period before the end of a certificate that is a warning, in seconds.
  private static let warningTime: Int64 = 14 * 86_400

  /// - Parameter code: the secret code of `DoctorProbes`.
  init(_ origin: WebAddress, code: String, _ facts: DoctorFacts, now: Int64 = Clock.wall() / 1_000_000_000) {
    self.origin = origin
    self.code = code
    self.facts = facts
    self.now = now
  }

  func findings() async throws -> [Finding] {
    guard let destination = Destination(origin) else { return [] }
    let name = destination.name
    let addresses: [SocketAddress]
    do throws(SystemError) {
      addresses = Self.unique(try SocketAddress.resolve(host: name, port: destination.port))
    } catch {
      return [
        .error(
          .name,
          "The name \(name) of --public-url has no address. Add an A or AAAA record for it where the domain is managed."
        )
      ]
    }
    var configuration = ClientConfiguration()
    configuration.connectTimeout = 5
    let client = try HTTPClient(configuration: configuration)
    defer { client.close() }
    var findings: [Finding] = []
    var reached: (Destination, SocketAddress)?
    for address in addresses {
      var target = destination
      target.addresses = [address]
      let (found, arrived) = await arrivalFindings(target, address, client)
      findings += found
      if arrived, reached == nil { reached = (target, address) }
    }
    guard let (target, address) = reached else { return findings }
    findings += await certificateFindings(address, name)
    findings += await socketFindings(target, client)
    findings += await uploadFindings(target, client)
    findings += await redirectFindings(client)
    return findings
  }

  private static func unique(_ addresses: [SocketAddress]) -> [SocketAddress] {
    addresses.reduce(into: []) { all, address in if !all.contains(address) { all.append(address) } }
  }

  /// Whether a proxy is in front of the daemon: it has the certificate.
  private var isBehindProxy: Bool { origin.scheme.isSecure && !facts.isEncrypted }

  // MARK: The way to the daemon

  /// The findings about one address, and whether a request arrives there.
  private func arrivalFindings(
    _ target: Destination, _ address: SocketAddress, _ client: HTTPClient
  ) async -> ([Finding], arrived: Bool) {
    let request = ClientRequest(
      DoctorProbes.path + code,
      ["X-Forwarded-For": Self.foreignAddress, "Forwarded": "for=\(Self.foreignAddress)"], maxResponseBytes: 65_536,
      timeout: Self.timeout)
    do throws(ClientError) {
      let response = try await client.send(request, to: target)
      let body = try await response.body()
      guard response.status == .ok, let arrival = Arrival(parsing: body) else {
        return ([otherSite(address, response.status)], false)
      }
      return (proxyFindings(arrival), true)
    } catch {
      return ([Self.finding(of: error, origin, address, facts)], false)
    }
  }

  private func otherSite(_ address: SocketAddress, _ status: Status) -> Finding {
    let answer = " (it answers \(status.code))"
    if [502, 503, 504].contains(status.code) {
      return .error(
        .site,
        "\(origin.origin) at \(address) does not reach this server\(answer). Let the proxy pass requests to "
          + "the address of --listen.")
    }
    return .error(
      .site,
      "\(origin.origin) at \(address) is another server\(answer). Correct the DNS record of \(origin.host), or "
        + "let the proxy pass all paths to this server.")
  }

  static func finding(
    of error: ClientError, _ origin: WebAddress, _ address: SocketAddress, _ facts: DoctorFacts
  ) -> Finding {
    switch error {
    case .untrusted(let reason):
      return .error(
        .tls,
        "The certificate of \(origin.origin) is not accepted: \(reason). "
          + (facts.isEncrypted
            ? "Set --acme, whose orders are in the log as event=certificate, or --tls-certificate and --tls-key to a "
              + "certificate for \(origin.host) with its chain."
            : "Give the proxy a certificate for \(origin.host) with its chain, for example with certbot --nginx -d "
              + "\(origin.host)."))
    case .interrupted, .malformed:
      return .error(
        .tls,
        "The server at \(address) does not speak \(origin.scheme.rawValue) correctly: \(error). Check the port of "
          + "--public-url and of the proxy.")
    case .unknownHost, .unreachable, .timedOut, .tooLarge, .invalidRequest, .cancelled:
      return .error(
        .port,
        "\(address), an address of \(origin.host), does not answer: \(error). Start the proxy or --listen there, "
          + "open the port in the firewall, or remove the DNS record.")
    }
  }

  func proxyFindings(_ arrival: Arrival) -> [Finding] {
    guard arrival.isTrusted || !isBehindProxy else {
      let peer = arrival.peer ?? "127.0.0.1"
      return [
        .error(
          .proxyTrust,
          "The proxy at \(peer) is not trusted, so all users count as one address. Set trusted-proxy = \(peer).")
      ]
    }
    var findings: [Finding] = []
    let line = "proxy_set_header X-Forwarded-For $remote_addr;"
    if arrival.client == Self.foreignAddress {
      findings.append(
        .error(
          .proxyClient,
          "The proxy passes on the client's own X-Forwarded-For, so anybody may pretend to be another address. "
            + "Overwrite it; nginx: \(line)"))
    } else if isBehindProxy, !arrival.hasForwardedClient {
      findings.append(
        .error(
          .proxyClient,
          "The proxy does not tell the client's address, so all users count as one. nginx: \(line) If the "
            + "proxy sends Forwarded (RFC 7239), set proxy-fields = forwarded."))
    }
    return findings
  }

  // MARK: Certificate, WebSocket, upload

  private func certificateFindings(_ address: SocketAddress, _ name: String) async -> [Finding] {
    guard origin.scheme.isSecure, let expiry = await PeerCertificate.expiry(at: address, name: name),
      expiry - now < Self.warningTime
    else { return [] }
    // The daemon warns of its own certificate.
    guard !facts.findings.contains(where: { $0.code == .certificate }) else { return [] }
    let date = Timestamp.format(Int(expiry) * 1_000).prefix(10)
    return [
      .warning(
        .certificate,
        "The certificate of \(origin.origin) is valid only until \(date). Renew it, for example with certbot renew, "
          + "and reload the proxy.")
    ]
  }

  private func socketFindings(_ target: Destination, _ client: HTTPClient) async -> [Finding] {
    let remedy =
      isBehindProxy
      ? "nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection;"
      : "Look for a firewall or proxy that refuses WebSockets."
    let fault: String
    do {
      switch try await client.open(
        ClientRequest("/api/v1/realtime", maxResponseBytes: 65_536, timeout: Self.timeout), to: target)
      {
      case .socket(let socket):
        defer { socket.close() }
        do {
          try await Self.within(Self.timeout) { try await socket.ping() }
          return []
        } catch { fault = "it opens, but no ping is answered" }
      case .refused(let response): fault = "it answers \(response.status.code)"
      }
    } catch { fault = "\(error)" }
    return [
      .error(
        .webSocket,
        "No WebSocket reaches the server over \(origin.origin): \(fault). Live updates are slow without one. \(remedy)")
    ]
  }

  /// Cancels the work after the time.
  private static func within(_ time: Duration, _ work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    let timer = Task {
      try await Task.sleep(for: time)
      task.cancel()
    }
    defer { timer.cancel() }
    try await task.value
  }

  private func uploadFindings(_ target: Destination, _ client: HTTPClient) async -> [Finding] {
    let request = ClientRequest(
      .post, DoctorProbes.path + code, ["Content-Type": "application/octet-stream"],
      body: .bytes([UInt8](repeating: 0, count: DoctorProbes.uploadBytes)), maxResponseBytes: 65_536,
      timeout: Self.uploadTimeout)
    let fault: String
    do {
      let response = try await client.send(request, to: target)
      let body = try await response.body()
      if response.status == .ok {
        if Arrival(parsing: body)?.bodyBytes == DoctorProbes.uploadBytes { return [] }
        fault = "a part of it arrives"
      } else {
        fault = "the answer is \(response.status.code)"
      }
    } catch { fault = "\(error)" }
    return [
      .error(
        .upload,
        "An upload of 3 MB over \(origin.origin) fails: \(fault). Raise the limit of the proxy; nginx: "
          + "client_max_body_size 20m;")
    ]
  }

  // MARK: Port 80

  /// Checks that `http://` redirects to `https://`.
  private func redirectFindings(_ client: HTTPClient) async -> [Finding] {
    guard origin.scheme.isSecure, origin.port == 443, let plain = WebAddress("http://\(origin.host)/"),
      let target = Destination(plain)
    else { return [] }
    let fault: String
    do {
      let response = try await client.send(
        ClientRequest("/", maxResponseBytes: 1 << 20, timeout: Self.timeout), to: target)
      let location = response.fields["location"] ?? ""
      if (300...399).contains(response.status.code), location.hasPrefix("https://") { return [] }
      fault = "it answers \(response.status.code) without a redirect to https"
    } catch { fault = "\(error)" }
    return [
      .warning(
        .redirect,
        "http://\(origin.host) does not lead to \(origin.origin): \(fault). "
          + (facts.isEncrypted ? "Set redirect-listen = 0.0.0.0:80." : "Let the proxy redirect port 80."))
    ]
  }
}

/// Reads the certificate of a server.
private final class PeerCertificate: StreamHandler {
  private let result: OnceContinuation<Int64?>
  private var stream: ParleyNetworking.Stream?
  private static let timeout = 10

  private init(_ result: OnceContinuation<Int64?>) { self.result = result }

  /// The end of its validity in seconds since 1970; nil without a certificate.
  static func expiry(at address: SocketAddress, name: String) async -> Int64? {
    guard let loop = try? EventLoop(label: "parley.certificate") else { return nil }
    await loop.start()
    defer { Task { await loop.stop() } }
    return await withCheckedContinuation { continuation in
      let result = OnceContinuation<Int64?>(continuation, orElse: nil)
      loop.run { loop in
        let handler = PeerCertificate(result)
        do {
          let context = try TLSContext(TLSConfiguration(role: .client(.system)))
          handler.stream = try ParleyNetworking.Stream.connect(
            to: address, tls: context, serverName: name, handler: handler, on: loop)
          handler.stream?.setDeadline(after: timeout)
        } catch { result.resume(nil) }
      }
    }
  }

  func opened(on loop: isolated EventLoop) {
    result.resume(stream?.peerCertificate?.expiry)
    stream?.abort()
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {}
  func ended(on loop: isolated EventLoop) { stream?.abort() }
  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) { stream?.abort() }
  func closed(_ error: StreamError?, on loop: isolated EventLoop) { result.resume(nil) }
}
