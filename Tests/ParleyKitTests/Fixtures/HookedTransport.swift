import ParleyKit
import Synchronization
import Testing

/// A transport that runs a hook after the server has executed a request and before the client receives the response.
final class HookedTransport: Transport {
  typealias Hook = @Sendable (_ request: String) async -> Void

  private let inner: any Transport
  private let hook = Mutex<Hook>({ _ in })

  init(_ inner: any Transport) { self.inner = inner }

  func set(_ new: @escaping Hook) { hook.withLock { $0 = new } }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    let response = try await inner.send(exchange)
    let hook = hook.withLock { $0 }
    await hook("\(exchange.method) \(exchange.target)")
    return response
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    try await inner.connect(exchange, subprotocols: subprotocols)
  }
}
