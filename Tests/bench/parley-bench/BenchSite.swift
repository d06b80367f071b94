import ParleyCrypto
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Serving
import Web

/// The routes for benchmarks and test suites. The daemon does not have them.
enum BenchSite {
  static func make(loops: @escaping @Sendable () -> [EventLoop]) -> Application {
    let small = Array(#"{"message":"Hello, World!"}"#.utf8)
    let large = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
    let hub = Broadcast(loops: loops)
    let router = Router { routes in
      routes.on(.get, "/") { _, _ in .text("parley-bench\n") }
      routes.on(.get, "/json") { _, _ in .json(small) }
      routes.on(.get, "/large") { _, _ in Response(.ok, large, type: .bytes) }
      routes.on(.post, "/upload", bodyLimit: 1 << 40, upload)
      routes.on(.put, "/upload", bodyLimit: 1 << 40, upload)
      routes.on(.get, "/echo") { _, _ in
        webSocket(WebSocketOptions(messageLimit: 16 << 20, deflate: .init(keepsContext: true), queue: 64 << 20)) {
          socket in Echo(socket)
        }
      }
      routes.on(.get, "/echo-plain") { _, _ in
        webSocket(WebSocketOptions(messageLimit: 16 << 20, deflate: nil, queue: 64 << 20)) { socket in Echo(socket) }
      }
      routes.on(.get, "/broadcast") { _, context in
        let locals = context.locals
        return webSocket(WebSocketOptions(overflow: .close(.tryLater))) { socket in
          BroadcastMember(socket, hub: hub, sockets: locals.object(BroadcastSockets.self) { BroadcastSockets() })
        }
      }
      routes.on(.get, "/stream") { _, _ in
        Response(
          .ok, fields: ["Content-Type": "text/plain"],
          body: .stream(length: nil) { writer in
            for number in 1...100 { try await writer.write(Array("line \(number)\n".utf8)) }
          })
      }
    }
    var limits = Limits()
    limits.connections = 1_000_000
    limits.connectionsPerAddress = 1_000_000
    return Application(router: router, limits: limits)
  }

  private static func webSocket(
    _ options: WebSocketOptions, open: @escaping (any WebSocket) -> any WebSocketHandler
  ) -> Response {
    Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade(options: options, open: open)))
  }

  private static func upload(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    var count = 0
    let sha256: [UInt8]
    do {
      var digest = try Digest(.sha256)
      while let bytes = try await request.body.read() {
        count += bytes.count
        try digest.update(bytes)
      }
      sha256 = try digest.finish()
    } catch let problem as Problem {
      throw problem
    } catch {
      throw .broken(error)
    }
    var json = JSONWriter()
    json.object { json in
      json.field("bytes", count)
      json.field("sha256", Hex.text(sha256))
    }
    return .json(json.bytes)
  }
}

private final class Echo: WebSocketHandler {
  private let socket: any WebSocket
  private var unsent: WebSocketMessage?

  init(_ socket: any WebSocket) {
    self.socket = socket
  }

  func opened(on loop: isolated any Actor) {}

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    guard !socket.send(message) else { return }
    // The peer sends faster than it reads: pause reading.
    unsent = message
    socket.pause()
  }

  func drained(on loop: isolated any Actor) {
    guard let message = unsent else { return }
    unsent = nil
    socket.send(message)
    socket.resume()
  }

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {}
}

/// Broadcasts each message to all sockets: a list of sockets per loop, and one job per loop and message.
private struct Broadcast: Sendable {
  let loops: @Sendable () -> [EventLoop]

  func publish(_ message: WebSocketMessage) {
    let frame =
      switch message {
      case .text(let bytes): SharedFrame(text: bytes)
      case .binary(let bytes): SharedFrame(binary: bytes)
      }
    for loop in loops() {
      loop.run { loop in
        guard let locals = loop.resident(Locals.self) else { return }
        let sockets = locals.object(BroadcastSockets.self) { BroadcastSockets() }
        for socket in sockets.all.values { socket.send(frame) }
      }
    }
  }
}

private final class BroadcastSockets {
  var all: [ObjectIdentifier: any WebSocket] = [:]
}

private final class BroadcastMember: WebSocketHandler {
  private let socket: any WebSocket
  private let hub: Broadcast
  private let sockets: BroadcastSockets

  init(_ socket: any WebSocket, hub: Broadcast, sockets: BroadcastSockets) {
    self.socket = socket
    self.hub = hub
    self.sockets = sockets
    sockets.all[ObjectIdentifier(socket)] = socket
  }

  func opened(on loop: isolated any Actor) {}

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    hub.publish(message)
  }

  func drained(on loop: isolated any Actor) {}

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {
    sockets.all[ObjectIdentifier(socket)] = nil
  }
}
