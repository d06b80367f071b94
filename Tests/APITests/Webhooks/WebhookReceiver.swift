import Foundation
import ParleyCrypto
import ParleyNetworking
import ParleyWire
import Serving
import Synchronization
import Testing
import Web

/// A server that receives the requests of outgoing webhooks.
final class WebhookReceiver: Sendable {
  struct Received: @unchecked Sendable {
    let fields: Fields
    let body: [UInt8]
    let json: [String: Any]

    var id: String { fields["webhook-id"] ?? "" }
    var type: String { json["type"] as? String ?? "" }
    var data: [String: Any] { json["data"] as? [String: Any] ?? [:] }
    /// The text of a message.
    var text: String? { (data["data"] as? [String: Any])?["text"] as? String }

    /// For each signature, whether it is that of the secret.
    func verifications(by secret: String) throws -> [Bool] {
      let key = try #require(Base64.decode(String(secret.dropFirst("whsec_".count))))
      let content = Array("\(id).\(fields["webhook-timestamp"] ?? "").".utf8) + body
      let expected = "v1,\(Base64.encode(try HMAC.sha256(of: content, key: key)))"
      return (fields["webhook-signature"] ?? "").split(separator: " ").map { $0 == expected }
    }
  }

  /// An answer.
  struct Reply: Sendable {
    let status: Int
    var fields = Fields()
    var body = ""
  }

  /// The requests, and the answers to them by number.
  private final class Inbox: Sendable {
    let requests = Mutex<[Received]>([])
    let reply = Mutex<@Sendable (Int) -> Reply>({ _ in Reply(status: 204) })
    let isHolding = Atomic<Bool>(true)

    func receive(_ fields: Fields, _ body: [UInt8]) -> Response {
      let json = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
      let received = Received(fields: fields, body: body, json: json)
      let number = requests.withLock { requests in
        requests.append(received)
        return requests.count
      }
      let reply = self.reply.withLock { $0 }(number)
      guard !reply.body.isEmpty else { return Response(Status(reply.status), fields: reply.fields) }
      return Response.json(Array(reply.body.utf8), Status(reply.status))
    }
  }

  private let server: Server
  private let inbox: Inbox
  let port: Int

  static func open(_ body: (WebhookReceiver) async throws -> Void) async throws {
    Signals.ignoreBrokenPipes()
    let receiver = try await WebhookReceiver()
    do {
      try await body(receiver)
    } catch {
      _ = await receiver.server.stop(within: 0)
      throw error
    }
    _ = await receiver.server.stop(within: 0)
  }

  private init() async throws {
    let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    port = Int(socket.address.port ?? 0)
    let inbox = Inbox()
    self.inbox = inbox
    let router = Router { routes in
      routes.on(.post, "/hook") { request, _ throws(Problem) in
        inbox.receive(request.fields, try await request.body.collect())
      }
      routes.on(.post, "/slow") { request, _ throws(Problem) in
        let response = inbox.receive(request.fields, try await request.body.collect())
        while inbox.isHolding.load(ordering: .relaxed) { try? await Task.sleep(for: .milliseconds(5)) }
        return response
      }
    }
    server = try Server(
      .init(endpoints: [.init(socket)], loops: 1), application: Application(router: router, limits: Limits()),
      log: { _ in })
    try await server.start()
  }

  var url: String { "http://127.0.0.1:\(port)/hook" }
  /// Answers after `release`.
  var slowURL: String { "http://127.0.0.1:\(port)/slow" }

  func release() { inbox.isHolding.store(false, ordering: .relaxed) }

  /// Sets the answers, by the number of the request from 1.
  func answer(_ reply: @escaping @Sendable (Int) -> Reply) { inbox.reply.withLock { $0 = reply } }

  func answer(_ status: Int) { answer { _ in Reply(status: status) } }

  var received: [Received] { inbox.requests.withLock { $0 } }
  var texts: [String] { received.compactMap(\.text) }

  /// Waits for the number of requests, and returns all.
  func wait(for count: Int, at location: SourceLocation = #_sourceLocation) async throws -> [Received] {
    try await waitUntil(at: location) { self.received.count >= count }
    return received
  }
}
