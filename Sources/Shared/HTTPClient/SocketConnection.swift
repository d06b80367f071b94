import ParleyNetworking
import ParleyWire

/// The client side of an open WebSocket. Confined to the client's event loop.
final class SocketConnection: StreamHandler {
  private let configuration: ClientConfiguration
  private var stream: ParleyNetworking.Stream?
  private var session: WebSocketSession
  private var buffer: [SocketMessage] = []
  private var bufferedBytes = 0
  private var isPaused = false
  private var ending: SocketEnding?
  private var reader: CheckedContinuation<Result<SocketMessage, SocketEnding>, Never>?
  private var pings: [CheckedContinuation<SocketEnding?, Never>] = []
  private var senders: [CheckedContinuation<SocketEnding?, Never>] = []

  init(
    _ stream: ParleyNetworking.Stream, _ agreement: WebSocketHandshake.Agreement, _ configuration: ClientConfiguration
  ) {
    self.stream = stream
    self.configuration = configuration
    // RFC 6455 §5.3: masks must be unpredictable, so they come from the system's generator.
    session = WebSocketSession(
      role: .client(nextMask: { UInt32.random(in: .min ... .max) }), messageLimit: ClientLimits.message,
      deflate: agreement.deflate, streams: DeflateStreams())
  }

  /// Processes bytes received together with the handshake response.
  func begin(_ early: Span<UInt8>, on loop: isolated EventLoop) {
    stream?.setDeadline(at: .max)
    receive(early)
  }

  // MARK: Calls of ClientSocket

  func next(isolation: isolated EventLoop) async -> Result<SocketMessage, SocketEnding> {
    if !buffer.isEmpty {
      let message = buffer.removeFirst()
      bufferedBytes -= message.count
      if isPaused, bufferedBytes < ClientLimits.waitingMessages / 2 {
        isPaused = false
        stream?.resumeReading()
      }
      return .success(message)
    }
    if let ending { return .failure(ending) }
    guard reader == nil else { return .failure(SocketEnding(code: 1006, reason: "the socket has another reader")) }
    return await withCheckedContinuation { reader = $0 }
  }

  func send(_ text: String, isolation: isolated EventLoop) async -> SocketEnding? {
    if let ending { return ending }
    guard let frame = session.send(text: text), let stream else { return .gone }
    stream.write(frame)
    guard stream.isFull else { return nil }
    return await withCheckedContinuation { senders.append($0) }
  }

  func ping(isolation: isolated EventLoop) async -> SocketEnding? {
    if let ending { return ending }
    guard let frame = session.sendPing(), let stream else { return .gone }
    stream.write(frame)
    return await withCheckedContinuation { pings.append($0) }
  }

  func close(_ code: CloseCode, _ reason: String) {
    guard ending == nil else { return }
    guard let frame = session.close(code, reason: reason) else { return }
    stream?.write(frame)
    stream?.setDeadline(after: configuration.closeTimeout)
    isPaused = false
    stream?.resumeReading()
  }

  func drop() {
    end(.gone)
    stream?.abort()
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) {}

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) { receive(bytes) }

  private func receive(_ bytes: Span<UInt8>) {
    var actions: [WebSocketSession.Action] = []
    session.receive(bytes, into: &actions)
    for action in actions {
      switch action {
      case .text(let bytes): receive(.text(String(decoding: bytes, as: UTF8.self)))
      case .binary(let bytes): receive(.binary(bytes))
      case .ping: break
      case .pong: if !pings.isEmpty { pings.removeFirst().resume(returning: nil) }
      case .send(let bytes): stream?.write(bytes)
      case .closed(let closing):
        session.finish()
        end(SocketEnding(code: Int(closing.code.number), reason: closing.reason))
        stream?.finish()
      }
    }
  }

  private func receive(_ message: SocketMessage) {
    if let reader {
      self.reader = nil
      return reader.resume(returning: .success(message))
    }
    buffer.append(message)
    bufferedBytes += message.count
    if bufferedBytes >= ClientLimits.waitingMessages, !isPaused {
      isPaused = true
      stream?.pauseReading()
    }
  }

  private func end(_ how: SocketEnding) {
    guard ending == nil else { return }
    ending = how
    reader?.resume(returning: .failure(how))
    reader = nil
    for waiter in pings + senders { waiter.resume(returning: how) }
    (pings, senders) = ([], [])
  }

  func ended(on loop: isolated EventLoop) {
    end(.gone)
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {
    for waiter in senders { waiter.resume(returning: nil) }
    senders = []
  }

  func resumed(on loop: isolated EventLoop) {}

  /// The peer did not answer our Close in time.
  func expired(on loop: isolated EventLoop) {
    end(.gone)
    stream?.abort()
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    end(error.map { SocketEnding(code: 1006, reason: $0.description) } ?? .gone)
  }
}
