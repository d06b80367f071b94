import ParleyNetworking

/// A connection to a mail server with one message at a time. Confined to the client's event loop.
final class SMTPConnection: StreamHandler {
  private let client: SMTPConnections
  private var stream: ParleyNetworking.Stream?
  private var conversation: SMTPConversation
  private let isImplicitTLS: Bool
  private let serverName: String
  private var isHandshaking: Bool
  private var isConnected = false
  private let timeouts: SMTPTimeouts
  private var waiting: CheckedContinuation<MailOutcome, Never>?

  init(_ client: SMTPConnections, _ conversation: SMTPConversation, to server: MailServer) {
    self.client = client
    self.conversation = conversation
    timeouts = client.timeouts
    isImplicitTLS = server.security == .tls
    isHandshaking = isImplicitTLS
    serverName = server.host
  }

  /// The content was sent without a reply: the server may have the message.
  var hasSentContent: Bool { conversation.awaitsAcceptance }

  /// Connects and sends the first message.
  func open(_ address: SocketAddress, on loop: isolated EventLoop) async -> MailOutcome {
    await withCheckedContinuation { continuation in
      waiting = continuation
      do throws(StreamError) {
        stream = try ParleyNetworking.Stream.connect(
          to: address, tls: isImplicitTLS ? try client.context() : nil, serverName: serverName, handler: self, on: loop)
        client.open[ObjectIdentifier(self)] = self
        stream?.setDeadline(after: timeouts.connect)
      } catch {
        end(Self.outcome(of: error))
      }
    }
  }

  /// Sends another message; nil if the connection was lost while it was idle.
  func send(_ envelope: Envelope, on loop: isolated EventLoop) async -> MailOutcome? {
    guard stream?.isOpen == true, conversation.isIdle else { return nil }
    let outcome = await withCheckedContinuation { continuation in
      waiting = continuation
      perform(conversation.begin(envelope))
    }
    switch outcome {
    case .unreachable, .timedOut: return conversation.hasReplied ? outcome : nil
    case .deferred(let reply): return reply.code == 421 ? nil : outcome
    case .accepted, .refused, .signInRefused, .insecure, .untrusted: return outcome
    }
  }

  /// Ends the connection; a pending message is unreachable.
  func drop() {
    end(.unreachable("the server is stopping"))
    stream?.abort()
  }

  private func perform(_ steps: [SMTPConversation.Step]) {
    for step in steps {
      switch step {
      case .send(let bytes):
        stream?.write(bytes)
        stream?.setDeadline(after: conversation.awaitsAcceptance ? timeouts.acceptance : timeouts.reply)
      case .startTLS:
        do throws(StreamError) {
          isHandshaking = true
          try stream?.startTLS(try client.context(), serverName: serverName)
          stream?.setDeadline(after: timeouts.connect)
        } catch {
          fail(Self.outcome(of: error))
        }
      case .finish(let outcome):
        guard conversation.isIdle else { return fail(outcome) }
        stream?.setDeadline(after: timeouts.idle)
        client.idle = client.idle ?? self
        if client.idle !== self { quit() }
        end(outcome)
      }
    }
  }

  /// Ends the message and the connection.
  private func fail(_ outcome: MailOutcome) {
    quit()
    end(outcome)
  }

  private func quit() {
    guard let stream, stream.isOpen else { return }
    stream.write(Array("QUIT\r\n".utf8))
    stream.finish()
  }

  private func end(_ outcome: MailOutcome) {
    waiting?.resume(returning: outcome)
    waiting = nil
  }

  private static func outcome(of error: StreamError) -> MailOutcome {
    switch error {
    case .system(let error): .unreachable(error.reason)
    case .tls(let reason): .untrusted(reason)
    }
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) {
    isConnected = true
    stream?.setDeadline(after: timeouts.reply)
    guard isHandshaking else { return }
    isHandshaking = false
    // With TLS from the first byte the greeting follows.
    if !isImplicitTLS { perform(conversation.secured()) }
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    var copy: [UInt8] = []
    copy.append(copying: bytes)
    perform(conversation.receive(copy))
  }

  func ended(on loop: isolated EventLoop) {
    end(.unreachable("the mail server closed the connection"))
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}

  func expired(on loop: isolated EventLoop) {
    guard waiting != nil else { return quit() }
    // Without a connection another address of the server may work.
    end(isConnected ? .timedOut : .unreachable("connect timed out"))
    stream?.abort()
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    client.remove(self)
    end(error.map(Self.outcome) ?? .unreachable("the mail server closed the connection"))
  }
}

/// In seconds.
struct SMTPTimeouts: Sendable {
  /// For each address: TCP connect and TLS handshake.
  var connect = 15
  var reply = 60
  /// RFC 5321 §4.5.3.2.6 allows ten minutes after the content, but the queue waits.
  var acceptance = 120
  /// Until an idle connection is closed.
  var idle = 10
}

/// The connections of a client. Confined to its event loop.
final class SMTPConnections {
  private let trust: TLSConfiguration.Trust
  fileprivate let timeouts: SMTPTimeouts
  private var tls: TLSContext?
  fileprivate var open: [ObjectIdentifier: SMTPConnection] = [:]
  /// A connection that waits for the next message.
  fileprivate(set) var idle: SMTPConnection?

  init(_ trust: TLSConfiguration.Trust, _ timeouts: SMTPTimeouts) {
    self.trust = trust
    self.timeouts = timeouts
  }

  /// Created on first use: loading the system's root certificates is slow.
  func context() throws(StreamError) -> TLSContext {
    if let tls { return tls }
    let context = try TLSContext(TLSConfiguration(role: .client(trust), protocols: []))
    tls = context
    return context
  }

  func takeIdle() -> SMTPConnection? {
    defer { idle = nil }
    return idle
  }

  fileprivate func remove(_ connection: SMTPConnection) {
    open[ObjectIdentifier(connection)] = nil
    if idle === connection { idle = nil }
  }

  func close() {
    for connection in open.values { connection.drop() }
  }
}
