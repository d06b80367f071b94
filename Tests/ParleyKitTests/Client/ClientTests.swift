import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

/// A network with scripted responses.
private final class ScriptedTransport: Transport {
  typealias Answer = (status: Int, fields: [TransportRequest.Field], body: String)
  private let answers: Mutex<[Result<Answer, TransportFailure>]>
  let sent: Mutex<[TransportRequest]> = Mutex([])

  init(_ answers: [Result<Answer, TransportFailure>]) { self.answers = Mutex(answers) }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    sent.withLock { $0.append(exchange) }
    let next = answers.withLock { $0.isEmpty ? .failure(TransportFailure.timedOut) : $0.removeFirst() }
    let answer = try next.get()
    let pieces = Mutex([Array(answer.body.utf8)])
    return TransportResponse(status: answer.status, fields: answer.fields) { () throws(TransportFailure) -> [UInt8]? in
      pieces.withLock { $0.popLast() }
    }
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    throw .timedOut
  }
}

private func problem(_ status: Int, _ code: String, _ fields: [TransportRequest.Field] = []) -> Result<
  ScriptedTransport.Answer, TransportFailure
> {
  .success((status, fields, #"{"code":"\#(code)","status":\#(status),"title":"No."}"#))
}

private func scripted(
  _ answers: [Result<ScriptedTransport.Answer, TransportFailure>]
) throws -> (Client, ScriptedTransport) {
  let network = ScriptedTransport(answers)
  var retryPolicy = RetryPolicy()
  retryPolicy.jitter = { 1 }
  retryPolicy.sleep = { _ in }
  return (
    Client(try #require(ServerAddress("chat.example")), over: network, token: "secret", retryPolicy: retryPolicy),
    network
  )
}

/// Any request.
private let garden = Request<Fact>(.get, "/things")

private let good: Result<ScriptedTransport.Answer, TransportFailure> = .success((200, [], #"{"name":"garden"}"#))

@Test func `temporary failures are retried if the request is repeatable`() async throws {
  for failure in [
    .failure(.unreachable("")), .failure(.interrupted("")), .failure(.timedOut), problem(503, "unavailable"),
    .success((502, [], "<html>")), problem(429, "rate_limited", [.init("Retry-After", "2")]),
  ] as [Result<ScriptedTransport.Answer, TransportFailure>] {
    let (client, network) = try scripted([failure, failure, good])
    #expect(try await client.send(garden)["name"] == "garden")
    #expect(network.sent.withLock { $0.count } == 3)
  }
}

@Test func `a request that may have been executed is not repeated without a client id`() async throws {
  let draft = Request<Fact>(.post, "/things", body: .object { $0.field("a", 1) })
  let (client, network) = try scripted([.failure(.interrupted("")), good])
  await #expect(throws: ClientFault.interrupted("")) { try await client.send(draft) }
  #expect(network.sent.withLock { $0.count } == 1)
  // The request was not sent, so a retry does not repeat it.
  let (second, other) = try scripted([.failure(.unreachable("")), good])
  _ = try await second.send(draft)
  #expect(other.sent.withLock { $0.count } == 2)
  // The server recognizes the client id.
  let (third, last) = try scripted([.failure(.interrupted("")), good])
  _ = try await third.send(draft.withClientID("9b1c"))
  #expect(last.sent.withLock { $0.count } == 2)
}

@Test func `retries are limited in number and time`() async throws {
  let (client, network) = try scripted(Array(repeating: .failure(.timedOut), count: 9))
  await #expect(throws: ClientFault.timedOut) { try await client.send(garden) }
  #expect(network.sent.withLock { $0.count } == 4)
  let (patient, other) = try scripted([problem(429, "rate_limited", [.init("Retry-After", "60")]), good])
  await #expect(throws: ClientFault.self) { try await patient.send(garden) }
  #expect(other.sent.withLock { $0.count } == 1)
}

@Test(arguments: [
  (200, "text/html; charset=utf-8", "<html>Welcome to the hotel"), (511, "text/html", "<html>"),
  (302, "text/plain", ""), (403, "text/html", "<html>"),
])
func `an HTML page instead of a response is a captive portal`(status: Int, type: String, body: String) async throws {
  let answer = Result<ScriptedTransport.Answer, TransportFailure>.success((status, [.init("content-type", type)], body))
  let (client, _) = try scripted(Array(repeating: answer, count: 4))
  await #expect(throws: ClientFault.captivePortal) { try await client.send(garden) }
}

@Test(arguments: ["", "nonsense", "[]", #"{"name":"a"#])
func `an invalid response is a fault, not a crash`(body: String) async throws {
  let (client, _) = try scripted([.success((200, [.init("Content-Type", "application/json")], body))])
  do throws(ClientFault) {
    _ = try await client.send(garden)
    Issue.record("it was understood")
  } catch {
    guard case .invalidResponse = error else {
      Issue.record("\(error)")
      return
    }
  }
}

@Test func `the token is sent only if the request requires it`() async throws {
  let (client, network) = try scripted([good, good])
  _ = try await client.send(garden)
  _ = try await client.send(garden.unauthenticated())
  let fields = network.sent.withLock { $0.map(\.fields) }
  #expect(fields[0].contains(.init("Authorization", "Bearer secret")))
  #expect(!fields[1].contains { $0.name == "Authorization" })
}

@Test func `AN-15: an app can observe the number of requests in progress`() async throws {
  let transport = HookedTransport(try scripted([good]).1)
  let client = Client(try #require(ServerAddress("chat.example")), over: transport)
  let (answers, answer) = AsyncStream.makeStream(of: Void.self)
  transport.set { _ in
    for await _ in answers { break }
  }
  var counts = client.activity.counts.makeAsyncIterator()
  #expect(await counts.next() == 0)
  async let request = client.send(garden)
  #expect(await counts.next() == 1)
  #expect(client.activity.count == 1)
  answer.finish()
  _ = try await request
  #expect(await counts.next() == 0)
  #expect(client.activity.count == 0)
}

@Test func `a closure receives the same result as async code`() async throws {
  let (client, _) = try scripted([good])
  let name = await withCheckedContinuation { continuation in
    client.send(garden) { result in continuation.resume(returning: try? result.get()["name"]) }
  }
  #expect(name == "garden")
}

@Test func `every fault has a user message`() throws {
  let faults: [ClientFault] = [
    .offline(""), .untrusted(""), .timedOut, .interrupted(""), .captivePortal, .invalidResponse(""), .tooLarge,
    .unreadable(""), .signedOut, .userChanged, .cancelled, .unfinished, .storageFailed,
  ]
  #expect(Set(faults.map(\.userMessage)).count == faults.count)
  #expect(faults.allSatisfy { $0.userMessage.count > 10 })
}

@Test func `a fault round-trips with its reason`() throws {
  var problem = try Problem(json: JSONValue(parsing: Array(#"{"code":"a","status":429,"title":"No.","x":1}"#.utf8)))
  problem.retryAfter = 5
  let faults: [ClientFault] = [
    .offline("a"), .untrusted("b"), .timedOut, .interrupted("c"), .captivePortal, .invalidResponse("d"), .tooLarge,
    .unreadable("e"), .refused(problem), .userChanged, .cancelled, .unfinished, .storageFailed,
  ]
  for fault in faults {
    var json = JSONWriter()
    json.value(fault)
    #expect(try ClientFault(json: JSONValue(parsing: json.bytes)) == fault)
  }
}
