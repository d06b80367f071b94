import Foundation
import ParleyNetworking
import ParleyWire
import TestSupport
import Testing
import Web

/// Mutated valid requests. The server may refuse them or wait for more input, but serves the next client.
struct FuzzTests {
  static let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 150

  private static let good: [[UInt8]] = [
    get("/hello?1") + get("/hello?2") + get("/hello?3"),
    post("/echo", "seeds") + get("/hello?2"),
    chunked("/echo", ["se", "eds"], trailers: "X: y\r\n") + post("/ignore", "weeds") + get("/hello?3"),
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nseeds" + get("/hello?2"),
    get(
      "/socket", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Extensions: permessage-deflate"),
  ].enumerated().map { index, text in Array(text.utf8) + (index == 4 ? SocketClient.frame(text: "garden") : []) }

  @Test(arguments: Variant.allCases)
  func `mutated requests do not affect other clients`(variant: Variant) async throws {
    var limits = Limits()
    limits.headTime = 1
    limits.byteTime = 1
    limits.idleTime = 1
    limits.socketIdleTime = 2
    let site = garden(limits: limits) { routes in
      routes.on(.get, "/socket") { _, _ in
        Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
      }
    }
    let seed = UInt64(variant.loops)
    try await serving(site, variant, clock: ManualClock()) { running in
      var random = Seeded(seed: seed)
      var open: [RawClient] = []
      for round in 0..<Self.rounds {
        var bytes = Self.good.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &random) { bytes.mutate(&random) }
        let client = try running.connect()
        do {
          var rest = bytes[...]
          while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...rest.count, using: &random))
            try client.send(Array(piece))
            rest = rest.dropFirst(piece.count)
          }
        } catch {}  // The server refused before everything was sent.
        switch Int.random(in: 0..<4, using: &random) {
        case 0: client.reset()
        case 1: client.close()
        case 2: client.finishSending()
        default: break
        }
        open.append(client)
        if open.count > 100 { open.removeFirst() }
        if round % 10 == 0 { #expect(try running.servesOthers()) }
      }
      // Each connection has a response or waits for input, and ends within the limits.
      _ = await running.tenths { running.server.connectionCount == 0 }
      #expect(running.server.connectionCount == 0)
      #expect(try running.servesOthers())
    }
  }
}

extension [UInt8] {
  /// Applies one small mutation.
  fileprivate mutating func mutate(_ random: inout Seeded) {
    guard !isEmpty else { return }
    let position = indices.randomElement(using: &random) ?? 0
    let nasty: [UInt8] = [0, 9, 10, 13, 32, 0x2c, 0x3a, 0x3b, 0x2d, 0x30, 0x39, 0x7f, 0x80, 0xff]
    switch Int.random(in: 0..<6, using: &random) {
    case 0: self[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: self[position] = nasty.randomElement(using: &random) ?? 0
    case 2: insert(nasty.randomElement(using: &random) ?? 0, at: position)
    case 3: remove(at: position)
    case 4: removeSubrange(position..<Swift.min(count, position + Int.random(in: 1...20, using: &random)))
    default:
      let part = Array<UInt8>(self[position..<Swift.min(count, position + Int.random(in: 1...40, using: &random))])
      insert(contentsOf: part, at: indices.randomElement(using: &random) ?? 0)
    }
  }
}
