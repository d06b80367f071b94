import ParleyNetworking
import ParleyWire
import Testing
import Web

/// A WebSocket client on a raw connection.
final class SocketClient {
  let raw: RawClient
  private var session: WebSocketSession
  private var actions: [WebSocketSession.Action] = []
  let agreement: WebSocketHandshake.Agreement

  init(
    _ running: Running, _ path: String = "/socket", tls: TLSConfiguration? = nil,
    deflate: PerMessageDeflate.Policy? = nil, subprotocols: [String] = [], sendingWithHandshake early: [UInt8] = [],
    receiveBuffer: Int32? = nil, messageLimit: Int = 64 << 20
  ) throws {
    raw = try running.connect(tls: tls, receiveBuffer: receiveBuffer)
    let handshake = WebSocketClientHandshake(
      nonce: (0..<16).map { _ in .random(in: 0...255) }, subprotocols: subprotocols, deflate: deflate)
    let fields = String(decoding: handshake.fields.wireBytes, as: UTF8.self)
    try raw.send(Array("GET \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8) + early)
    let answer = try raw.answer()
    agreement = try handshake.read(answer.head.status, answer.head.fields)
    session = WebSocketSession(
      role: .client(nextMask: { .random(in: .min ... .max) }), messageLimit: messageLimit, deflate: agreement.deflate,
      streams: DeflateStreams())
  }

  /// A masked frame, for sending before the session is open.
  static func frame(text: String) -> [UInt8] {
    var session = WebSocketSession(
      role: .client(nextMask: { 0x0102_0304 }), messageLimit: 1, streams: DeflateStreams())
    return session.send(text: text) ?? []
  }

  func send(text: String) throws { try raw.send(session.send(text: text) ?? []) }
  func send(binary: [UInt8]) throws { try raw.send(session.send(binary: binary) ?? []) }
  func ping(_ payload: [UInt8] = []) throws { try raw.send(session.sendPing(payload) ?? []) }
  func close(_ code: CloseCode, reason: String = "") throws { try raw.send(session.close(code, reason: reason) ?? []) }

  /// Returns the next action. Responds to pings and closes.
  func next() throws -> WebSocketSession.Action {
    while true {
      while !actions.isEmpty {
        let action = actions.removeFirst()
        guard case .send(let bytes) = action else { return action }
        // The server may have closed already.
        do { try raw.send(bytes) } catch {}
      }
      let count = raw.received.count
      if count == 0, try !raw.readMore() {
        session.transportEnded(into: &actions)
      } else {
        let bytes = try raw.read(raw.received.count)
        session.receive(bytes.span, into: &actions)
      }
    }
  }
}

/// Echoes messages, and pauses while the output queue is full.
final class EchoSocket: WebSocketHandler {
  private let socket: any WebSocket
  private var refused: WebSocketMessage?
  private let closings: Collected<WebSocketSession.Closing>?
  private let drains: Collected<Int>?

  init(
    _ socket: any WebSocket, closings: Collected<WebSocketSession.Closing>? = nil, drains: Collected<Int>? = nil
  ) {
    self.socket = socket
    self.closings = closings
    self.drains = drains
  }

  func opened(on loop: isolated any Actor) {}

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    precondition(refused == nil, "a message came although the socket is paused")
    guard !socket.send(message) else { return }
    refused = message
    socket.pause()
  }

  func drained(on loop: isolated any Actor) {
    drains?.add(socket.queued)
    guard let message = refused else { return }
    guard socket.send(message) else { return }
    refused = nil
    socket.resume()
  }

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) { closings?.add(closing) }
}
