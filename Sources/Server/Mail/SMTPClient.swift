import ParleyHTTPClient
import ParleyModel
public import ParleyNetworking

/// Sends messages to one mail server, on an event loop of its own. A connection is kept for the messages that follow within
/// seconds.
public final class SMTPClient: Sendable {
  private let loop: EventLoop
  private let server: MailServer
  private let password: String?
  private let helloName: String
  private let names = NameResolver(maxConcurrent: 4)
  private let addresses: [SocketAddress]?

  private static let lookupNanoseconds: Int64 = 10_000_000_000

  /// - Parameters:
  ///   - trust: the root certificates for TLS.
  ///   - helloName: the name of this host.
  public convenience init(
    _ server: MailServer, password: String?, trust: TLSConfiguration.Trust = .system, helloName: String
  ) throws(SystemError) {
    try self.init(server, password: password, trust: trust, helloName: helloName, timeouts: SMTPTimeouts())
  }

  /// - Parameter addresses: replace the name lookup in tests.
  init(
    _ server: MailServer, password: String?, trust: TLSConfiguration.Trust, helloName: String, timeouts: SMTPTimeouts,
    addresses: [SocketAddress]? = nil
  ) throws(SystemError) {
    self.server = server
    self.password = password
    self.helloName = helloName
    self.addresses = addresses
    loop = try EventLoop(label: "parley.mail")
    loop.run { loop in
      loop.start()
      _ = loop.resident(SMTPConnections.self) { SMTPConnections(trust, timeouts) }
    }
  }

  deinit { Self.end(loop) }

  /// Closes all connections. Pending messages are unreachable.
  public func close() {
    loop.run { $0.resident(SMTPConnections.self)?.close() }
  }

  private static func end(_ loop: EventLoop) {
    loop.run { $0.resident(SMTPConnections.self)?.close() }
    Task { await loop.stop() }
  }

  /// Sends a message. Returns after the reply of the mail server.
  public func send(_ message: MailMessage) async -> MailOutcome {
    let content = message.encoded()
    guard content.count <= SMTPConversation.maxContentBytes else {
      return .refused(MailReply(code: 552, text: "the message is too large"))
    }
    let envelope = Envelope(sender: message.envelopeSender, recipient: message.to, content: content)
    if let outcome = await Self.reuse(envelope, on: loop) { return outcome }
    let addresses: [SocketAddress]
    do throws(NameResolver.Failure) {
      addresses = try await resolve()
    } catch {
      return .unreachable("the name \(server.host) is not found")
    }
    var outcome = MailOutcome.unreachable("the name \(server.host) has no address")
    for address in addresses {
      let conversation = SMTPConversation(with: server, password: password, helloName: helloName, envelope)
      let attempt = await Self.open(address, conversation, to: server, on: loop)
      outcome = attempt.outcome
      // Another address of the server may work, but it must not have the message twice.
      guard case .unreachable = outcome, !attempt.hasSentContent else { return outcome }
    }
    return outcome
  }

  private func resolve() async throws(NameResolver.Failure) -> [SocketAddress] {
    if let addresses { return addresses }
    return try await names.addresses(
      of: server.host, port: UInt16(truncatingIfNeeded: server.port), within: Self.lookupNanoseconds)
  }

  private static func reuse(_ envelope: Envelope, on loop: isolated EventLoop) async -> MailOutcome? {
    guard let connection = loop.resident(SMTPConnections.self)?.takeIdle() else { return nil }
    return await connection.send(envelope, on: loop)
  }

  private static func open(
    _ address: SocketAddress, _ conversation: SMTPConversation, to server: MailServer, on loop: isolated EventLoop
  ) async -> (outcome: MailOutcome, hasSentContent: Bool) {
    guard let connections = loop.resident(SMTPConnections.self) else {
      return (.unreachable("the server is stopping"), false)
    }
    let connection = SMTPConnection(connections, conversation, to: server)
    return (await connection.open(address, on: loop), connection.hasSentContent)
  }
}
