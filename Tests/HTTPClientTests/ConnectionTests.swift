import ParleyNetworking
import ParleyWire
import Testing

@testable import ParleyHTTPClient

/// Opens a connection, and sends the request after the connect timeout, as a task of a busy executor does.
private func sendLate(
  _ request: ClientRequest, to destination: Destination, on loop: isolated EventLoop
) async throws -> Result<ClientExchange.Head, ClientError> {
  loop.start()
  var configuration = ClientConfiguration()
  configuration.connectTimeout = 1
  let exchange = ClientExchange(1, request, nil, now: loop.now)
  let connection = try await ClientConnection.open(
    to: destination.addresses[0], destination, ConnectionPool(.system, configuration), for: exchange, on: loop)
  try await Task.sleep(for: .milliseconds(1_300))
  let result = await connection.perform(exchange, on: loop)
  loop.stop()
  return result
}

@Test func `the connect timeout does not end a connection that waits for its request`() async throws {
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 204 \r\n\r\n")] }) { server in
    let result = try await sendLate(
      ClientRequest(.post, "/"), to: Destination(at: server.address), on: EventLoop(label: "test.late"))
    guard case .success(.answer(let head)) = result else { throw Unanswered(result: "\(result)") }
    #expect(head.status == .noContent)
  }
}

private struct Unanswered: Error {
  let result: String
}

@Test func `a request that was not written is sent again, a written one if it is idempotent`() {
  for (method, repeats) in [(Method.post, false), (.put, true)] {
    let exchange = ClientExchange(1, ClientRequest(method, "/"), nil, now: 0)
    exchange.fail(.interrupted("closed"))
    #expect(exchange.isRetryable)
    exchange.isSent = true
    #expect(exchange.isRetryable == repeats)
  }
}
