import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

@Test func `a server that does not answer is disconnected`() async throws {
  let silent = SilentTransport()
  var retryPolicy = RetryPolicy()
  retryPolicy.jitter = { 0 }
  var times = LiveConnection.Times()
  (times.heartbeatInterval, times.heartbeatTimeout) = (20, 20)
  let client = Client(try #require(ServerAddress("chat.example")), over: silent, retryPolicy: retryPolicy)
  let live = LiveConnection(client, times: times)
  for await news in live {
    guard case .disconnected(let fault, _) = news else { continue }
    #expect(fault.isTemporary)
    break
  }
  #expect(silent.pings.load(ordering: .relaxed) >= 1)
  live.stop()
}

@Test(arguments: [("restarting; retry in 4321 ms", 4_321), ("restarting", nil)] as [(String, Int?)])
func `the reported delay is the delay before the next connection`(reason: String, named: Int?) async throws {
  var retryPolicy = RetryPolicy()
  let pauses = Mutex<[Int]>([])
  var times = LiveConnection.Times()
  times.heartbeatInterval = 0
  retryPolicy.sleep = { milliseconds in
    if milliseconds > 0 { pauses.withLock { $0.append(milliseconds) } }
  }
  let client = Client(
    try #require(ServerAddress("chat.example")), over: ClosingTransport(reason: reason), retryPolicy: retryPolicy)
  let live = LiveConnection(client, times: times)
  var reported: [Int] = []
  for await update in live {
    guard case .disconnected(_, let milliseconds) = update else { continue }
    reported.append(milliseconds)
    if reported.count == 4 { break }
  }
  live.stop()
  #expect(pauses.withLock { $0.filter { $0 != times.heartbeatTimeout } }.prefix(3) == reported.prefix(3))
  if let named { #expect(Set(reported) == [named]) }
}

/// Accepts a connection and closes it.
private struct ClosingTransport: Transport {
  let reason: String

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse { throw .timedOut }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    let ending = LiveSocket.Ending(code: 1_001, reason: reason)
    return LiveSocket(
      send: { (_: String) throws(LiveSocket.Ending) in },
      next: { () async throws(LiveSocket.Ending) -> String in throw ending },
      ping: { () async throws(LiveSocket.Ending) in throw ending },
      close: { _, _ in })
  }
}

@Test(
  arguments: [
    (nil, 5, .next), (4, 5, .next), (5, 5, .known), (9, 5, .known), (3, 5, .gap(after: 3)), (0, 2, .gap(after: 0)),
  ] as [(Int?, Int, StreamOffsets.Order)])
func `an offset classifies an event as new, known or early`(
  last: Int?, offset: Int, order: StreamOffsets.Order
) {
  let offsets = StreamOffsets(last.map { ["site": $0] } ?? [:])
  #expect(offsets.order(of: offset, in: "site") == order)
}

/// Accepts a connection and never sends.
private final class SilentTransport: Transport {
  let pings = Atomic<Int>(0)

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse { throw .timedOut }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    let (ponged, stop) = AsyncStream.makeStream(of: Void.self)
    return LiveSocket(
      send: { (_: String) throws(LiveSocket.Ending) in },
      next: { () async throws(LiveSocket.Ending) -> String in
        for await _ in ended {}
        throw LiveSocket.Ending(code: 1006, reason: "")
      },
      ping: { [self] () async throws(LiveSocket.Ending) in
        pings.add(1, ordering: .relaxed)
        for await _ in ponged {}
        throw LiveSocket.Ending(code: 1006, reason: "")
      },
      close: { _, _ in
        end.finish()
        stop.finish()
      })
  }
}
