import ParleyModel
import ParleyTransport
import Synchronization

@testable import ParleyKit

/// A real network that a test can interrupt and restore.
final class CuttableTransport: Transport {
  private struct State {
    var isCut = false
    /// The number of changing requests that the server executes before their responses are lost.
    var responsesLost = 0
    var sockets: [LiveSocket] = []
    /// The page of a captive portal.
    var page: String?
  }

  private let inner: NetworkTransport
  private let state = Mutex(State())

  init() throws { inner = try NetworkTransport() }

  func cut() {
    let sockets = state.withLock { state in
      state.isCut = true
      defer { state.sockets = [] }
      return state.sockets
    }
    for socket in sockets { socket.close(1_000) }
  }

  func restore() {
    state.withLock { state in
      state.isCut = false
      state.page = nil
    }
  }

  func loseResponses(_ count: Int) { state.withLock { $0.responsesLost = count } }

  /// Answers every request with this page, like a captive portal. WebSockets fail.
  func answer(_ page: String) {
    cut()
    state.withLock { $0.page = page }
  }

  private static let noNetwork = TransportFailure.unreachable("there is no network")

  private func check() throws(TransportFailure) -> TransportResponse? {
    let (isCut, page) = state.withLock { ($0.isCut, $0.page) }
    if let page {
      let pieces = Mutex([Array(page.utf8)])
      return TransportResponse(status: 200, fields: [.init("Content-Type", "text/html")]) {
        () throws(TransportFailure) -> [UInt8]? in pieces.withLock { $0.popLast() }
      }
    }
    if isCut { throw Self.noNetwork }
    return nil
  }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    if let page = try check() { return page }
    let answer = try await inner.send(exchange)
    let isLost = state.withLock { state in
      guard exchange.method != "GET", state.responsesLost > 0 else { return false }
      state.responsesLost -= 1
      return true
    }
    if isLost { throw .interrupted("the answer got lost") }
    return answer
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    if try check() != nil { throw .notUpgraded(status: 200, body: Array("<html>".utf8)) }
    let socket = try await inner.connect(exchange, subprotocols: subprotocols)
    let isCut = state.withLock { state in
      if !state.isCut { state.sockets.append(socket) }
      return state.isCut
    }
    if isCut { socket.close(1_000) }
    return socket
  }
}
