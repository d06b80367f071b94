import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyTransport
import Serving
import Testing
import Web

@testable import API
@testable import Community

/// A real server with a socket and users, for clients that use the network.
final class SocketSite: Sendable {
  private let testSite: TestSite
  private let server: Server

  var community: Community { testSite.community }

  /// Runs a test with ada as the owner, grace and linus.
  static func open(_ body: (SocketSite) async throws -> Void) async throws {
    try await TestSite.open { testSite in
      let site = try await SocketSite(testSite)
      do {
        try await body(site)
      } catch {
        await site.close()
        throw error
      }
      await site.close()
    }
  }

  private init(_ testSite: TestSite) async throws {
    self.testSite = testSite
    Signals.ignoreBrokenPipes()
    let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    server = try Server(
      .init(endpoints: [.init(socket)], loops: 2), application: testSite.application, log: { _ in })
    try await server.start()
  }

  private func close() async {
    community.hub.close()
    await server.stop(within: 1)
  }

  var port: UInt16 { server.addresses[0].port ?? 0 }
  func token(_ name: String) -> String? { testSite.token(name) }
  func id(_ name: String) -> ID<User> { testSite.id(name) }

  /// A user's client; without a name, a visitor's.
  func client(_ name: String? = nil, _ transport: (any Transport)? = nil) throws -> Client {
    let address = try #require(ServerAddress("http://127.0.0.1:\(port)"))
    let transport = try transport ?? NetworkTransport()
    return Client(address, over: transport, token: name.flatMap(token), retryPolicy: .never)
  }

  /// The room of a forum created by ada.
  func room() async throws -> ID<Conversation> {
    let forum = try await client("ada").send(.createForum(title: "garden", visibility: .public))
    return forum.value.forum.room
  }

  /// A group of these users, created by the first.
  func group(_ names: String...) async throws -> ID<Conversation> {
    var others: [ID<User>] = []
    for name in names.dropFirst() { others.append(try await client(name).send(.getUser(.me)).summary.id) }
    let made = try await client(names[0]).send(
      .createConversation(.group, with: others.map { .id($0) }, title: "garden"))
    let id = made.conversation.id
    // A user added to a group by an unknown user must accept the request.
    for name in names.dropFirst() { _ = try await client(name).send(.acceptRequest(for: id)) }
    return id
  }
}
