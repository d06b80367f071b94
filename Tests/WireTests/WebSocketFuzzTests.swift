import TestSupport
import Testing

@testable import ParleyWire

/// Mutated and random traffic: no traps, memory within the limit, and actions independent of the pieces.
struct WebSocketFuzzTests {
  static let limit = 300
  private let streams = DeflateStreams()
  private let deflater: Deflater

  init() throws { deflater = try Deflater() }

  private func server() -> WebSocketSession {
    let deflate = PerMessageDeflate(
      serverKeepsContext: false, clientKeepsContext: false, serverWindowBits: 15, clientWindowBits: 15)
    return WebSocketSession(role: .server, messageLimit: Self.limit, deflate: deflate, streams: streams)
  }

  /// Mostly valid frames.
  private func traffic(_ random: inout Seeded) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let opcode: UInt8 = [0, 0, 1, 1, 1, 2, 2, 8, 9, 10].randomElement(using: &random) ?? 1
      let highest: UInt8 = Bool.random(using: &random) ? 0x7f : 0x9f
      var payload = (0..<Int.random(in: 0...130, using: &random)).map { _ in
        UInt8.random(in: 0...highest, using: &random)
      }
      let isCompressed = (1...2).contains(opcode) && Bool.random(using: &random)
      if isCompressed, Int.random(in: 0...3, using: &random) > 0 {
        payload = try deflater.deflate(message: payload.span)
        deflater.reset()
      }
      let isFinal = Int.random(in: 0...3, using: &random) > 0
      bytes += Peer.frame(opcode, payload, fin: isFinal, reserved: isCompressed ? 4 : 0)
    }
    return bytes
  }

  @Test func `mutated traffic has the same actions for every split`() throws {
    var random = Seeded(seed: 6455)
    for _ in 0..<Fuzz.rounds {
      var bytes = try traffic(&random)
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
      let whole = Peer.actions(server(), [bytes])

      var session = server()
      var actions: [Peer.Action] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(Int.random(in: 1...40, using: &random)))
        rest = rest.dropFirst(piece.count)
        session.receive(piece.span, into: &actions)
        // The message and its input, a control frame, a borrowed inflater and the window of earlier messages.
        #expect(session.footprint <= 2 * (Self.limit + 64) + 256 + 40_000 + UnagreedWindow.maxBytes)
      }
      #expect(actions == whole)
      #expect(actions.count { if case .closed = $0 { true } else { false } } <= 1)
    }
  }

  @Test func `random bytes are a header, a partial header or a fault`() {
    var random = Seeded(seed: 1)
    for _ in 0..<Fuzz.rounds {
      let bytes = (0..<Int.random(in: 0...16, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      do throws(WebSocketFault) {
        guard let header = try WebSocketFrame.Header.parse(bytes.span) else { continue }
        var written: [UInt8] = []
        header.write(to: &written)
        #expect(Array(bytes[..<header.size]) == written)
      } catch {
        #expect(error.code == .protocolError)
      }
    }
  }
}
