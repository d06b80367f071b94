import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

/// The texts of messages up to `last`.
private func texts(_ live: LiveConnection, until last: String) async throws -> [String] {
  var texts: [String] = []
  for await news in live {
    if case .ended(let fault) = news { throw fault }
    guard case .event(let frame) = news, frame.name == "message.created" else { continue }
    var event = try JSONValue(parsing: frame.representation.bytes).object()
    var data = try event.object("data")
    texts.append(try data.string("text"))
    if texts.last == last { return texts }
  }
  return texts
}

private func isLive(_ live: LiveConnection) async -> String? {
  for await news in live {
    if case .live(let cursor) = news { return cursor }
    if case .ended = news { return nil }
  }
  return nil
}

@Test func `events arrive in order, including those from before the connection`() async throws {
  try await SocketSite.open { site in
    let room = try await site.room()
    let ada = try site.client("ada")
    let live = LiveConnection(try site.client("grace"), topics: [.conversation(room)])
    #expect(await isLive(live) != nil)
    for number in 1...5 { _ = try await ada.send(.postMessage(in: room, "\(number)")) }
    #expect(try await texts(live, until: "5") == ["1", "2", "3", "4", "5"])
    let cursor = try #require(live.cursor)
    live.stop()

    for number in 6...9 { _ = try await ada.send(.postMessage(in: room, "\(number)")) }
    let back = LiveConnection(try site.client("grace"), topics: [.conversation(room)], after: cursor)
    #expect(try await texts(back, until: "9") == ["6", "7", "8", "9"])
    #expect(await isLive(back) != nil)
    back.stop()
  }
}

@Test func `a lost connection reconnects without gaps or duplicates`() async throws {
  try await SocketSite.open { site in
    let room = try await site.room()
    let ada = try site.client("ada")
    let network = FlakyTransport(try site.client("grace"))
    let live = LiveConnection(network.client, topics: [.conversation(room)])
    #expect(await isLive(live) != nil)
    var all: [String] = []
    for round in 0..<5 {
      for number in 0..<3 { _ = try await ada.send(.postMessage(in: room, "\(round) \(number)")) }
      all += try await texts(live, until: "\(round) 2")
      network.cut()
      _ = try await ada.send(.postMessage(in: room, "\(round) cut"))
      all += try await texts(live, until: "\(round) cut")
    }
    #expect(all == (0..<5).flatMap { round in ["\(round) 0", "\(round) 1", "\(round) 2", "\(round) cut"] })
    #expect(network.count > 3)
    live.stop()
  }
}

@Test func `a missing event is fetched before the next one is delivered`() async throws {
  try await SocketSite.open { site in
    let room = try await site.room()
    let ada = try site.client("ada")
    let network = FlakyTransport(try site.client("grace"))
    let live = LiveConnection(network.client, topics: [.conversation(room)])
    #expect(await isLive(live) != nil)
    _ = try await ada.send(.postMessage(in: room, "a"))
    #expect(try await texts(live, until: "a") == ["a"])
    network.drop(2)
    for text in ["b", "c", "d"] { _ = try await ada.send(.postMessage(in: room, text)) }
    #expect(try await texts(live, until: "d") == ["b", "c", "d"])
    _ = try await ada.send(.postMessage(in: room, "e"))
    #expect(try await texts(live, until: "e") == ["e"])
    live.stop()
  }
}

@Test func `a cursor of another history is answered with a reset`() async throws {
  try await SocketSite.open { site in
    let live = LiveConnection(try site.client("grace"), after: "00000000.7")
    for await news in live {
      guard case .reset(_, let cursor) = news else { continue }
      live.resume(from: cursor)
      #expect(live.cursor == cursor)
      break
    }
    live.stop()
  }
}

@Test func `a refused client is notified and does not reconnect`() async throws {
  try await SocketSite.open { site in
    let client = try site.client("grace")
    client.token = "wrong"
    let live = LiveConnection(client)
    var news: [LiveUpdate] = []
    for await one in live { news.append(one) }
    guard case .ended(let fault)? = news.last else {
      Issue.record("\(news)")
      return
    }
    #expect(fault.isSignedOut && news.count == 1)
  }
}

/// A real network that drops frames and connections.
private final class FlakyTransport: Transport {
  private let inner: any Transport
  private let sockets = Mutex<[LiveSocket]>([])
  private let dropped = Mutex(0)
  private let name: ServerAddress
  private let token: String?

  init(_ client: Client) {
    inner = client.transport
    name = client.server
    token = client.token
  }

  var client: Client {
    var retryPolicy = RetryPolicy()
    retryPolicy.sleep = { milliseconds in
      // Delays heartbeats by a minute and reconnects at once.
      if milliseconds > 8_000 { try await Task.sleep(for: .seconds(60)) }
    }
    return Client(name, over: self, token: token, retryPolicy: retryPolicy)
  }

  var count: Int { sockets.withLock { $0.count } }
  func cut() { sockets.withLock { $0.last }?.close(1_000) }
  /// Drops the next frames.
  func drop(_ count: Int) { dropped.withLock { $0 = count } }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    try await inner.send(exchange)
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    let socket = try await inner.connect(exchange, subprotocols: subprotocols)
    sockets.withLock { $0.append(socket) }
    return LiveSocket(
      send: { (text: String) async throws(LiveSocket.Ending) in try await socket.send(text) },
      next: { [self] () async throws(LiveSocket.Ending) -> String in
        while true {
          let text = try await socket.next()
          let isLost = dropped.withLock { left in
            defer { left = Swift.max(0, left - 1) }
            return left > 0
          }
          if !isLost { return text }
        }
      },
      ping: { () async throws(LiveSocket.Ending) in try await socket.ping() },
      close: { code, reason in socket.close(code, reason: reason) })
  }
}
