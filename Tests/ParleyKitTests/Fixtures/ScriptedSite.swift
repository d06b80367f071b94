import Foundation
import ParleyJSON
import ParleyModel
import ParleyWire
import Synchronization
import Testing
import Web

@testable import API
@testable import Community
@testable import ParleyKit
@testable import Storage

/// A real server without sockets, for clients with a scripted network.
final class ScriptedSite: Sendable {
  let testSite: TestSite
  private let loop: SiteLoop

  var community: Community { testSite.community }

  /// Runs a test with ada, grace and linus.
  static func open(_ body: (ScriptedSite) async throws -> Void) async throws {
    try await TestSite.open { testSite in try await body(ScriptedSite(testSite)) }
  }

  private init(_ testSite: TestSite) {
    self.testSite = testSite
    loop = SiteLoop(testSite.application)
  }

  func id(_ name: String) -> ID<User> { testSite.id(name) }

  /// A user's transport to the server.
  func server(_ name: String) -> SiteTransport {
    SiteTransport(loop, token: testSite.token(name) ?? "")
  }

  /// A user's client.
  func client(_ name: String) throws -> Client { try server(name).client() }

  /// A group of these users, created by the first.
  func group(_ names: String...) async throws -> ID<Conversation> {
    let made = try await client(names[0]).send(
      .createConversation(.group, with: names.dropFirst().map { .id(id($0)) }, title: "garden"))
    let group = made.conversation.id
    // A user added to a group by an unknown user must accept the request.
    for name in names.dropFirst() { _ = try await client(name).send(.acceptRequest(for: group)) }
    return group
  }

  @discardableResult
  func post(
    _ text: String, as name: String, in conversation: ID<Conversation>, _ annotations: [Draft.Annotation] = []
  ) async throws -> Message {
    try await client(name).send(.postMessage(in: conversation, text, annotations: annotations)).message
  }

  /// All messages of a conversation on the server.
  func messages(of conversation: ID<Conversation>, as name: String) async throws -> [MessageView] {
    let pages = try client(name).pages(
      of: .listMessages(in: conversation, order: .oldestFirst, limit: 200, includeMachine: true))
    var all: [MessageView] = []
    for try await page in pages { all += page.elements.map(\.value) }
    return all
  }
}

/// A network between a client and the site.
final class SiteTransport: Transport {
  private let loop: SiteLoop
  private let token: String
  private let state = Mutex(NetworkState())

  struct NetworkState: Sendable {
    var isOffline = false
    /// The number of changing requests that the server executes before their responses are lost. File uploads are not
    /// affected.
    var responsesLost = 0
    /// The number of requests until the network fails.
    var callsLeft = Int.max
    var requests: [String] = []
  }

  fileprivate init(_ loop: SiteLoop, token: String) {
    self.loop = loop
    self.token = token
  }

  static let noNetwork = ClientFault.offline("there is no network")
  static let lostResponse = ClientFault.interrupted("the response was lost")
  private static let failure = TransportFailure.unreachable("there is no network")

  func set(_ change: (inout NetworkState) -> Void) { state.withLock { change(&$0) } }

  /// Methods and paths below the base.
  var requests: [String] { state.withLock { $0.requests } }

  /// A client with this transport, or with one that wraps it.
  func client(over transport: (any Transport)? = nil) throws -> Client {
    let address = try #require(ServerAddress("https://site.example"))
    return Client(address, over: transport ?? self, token: token, retryPolicy: .never)
  }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    let path = exchange.target.dropFirst(API.base.count).prefix { $0 != "?" }
    let isThrough = state.withLock { state in
      guard !state.isOffline, state.callsLeft > 0 else { return false }
      state.callsLeft -= 1
      state.requests.append("\(exchange.method) \(path)")
      return true
    }
    guard isThrough else { throw Self.failure }
    let answer = await loop.send(exchange, try await Self.bytes(of: exchange.body))
    let isLost = state.withLock { state in
      guard exchange.method != "GET", path != "/files", state.responsesLost > 0 else { return false }
      state.responsesLost -= 1
      return true
    }
    if isLost { throw .interrupted("the response was lost") }
    return answer
  }

  private static func bytes(of body: TransportBody) async throws(TransportFailure) -> [UInt8] {
    switch body {
    case .none: return []
    case .bytes(let bytes): return bytes
    case .stream(let length, let next):
      var bytes: [UInt8] = []
      do { while bytes.count < length { bytes += try await next() } } catch { throw .sourceFailed("\(error)") }
      return bytes
    }
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    throw Self.failure
  }
}

/// Passes requests to the application directly.
private actor SiteLoop {
  private let site: Application
  private let locals = Locals()
  private var count: UInt64 = 0

  init(_ site: Application) { self.site = site }

  func send(_ exchange: TransportRequest, _ body: [UInt8]) async -> TransportResponse {
    let target = exchange.target
    let queryStart = target.firstIndex(of: "?") ?? target.endIndex
    var fields = Fields()
    for field in exchange.fields { fields.add(field.name, field.value) }
    let head = RequestHead(
      method: ParleyWire.Method(exchange.method),
      target: Target(
        path: String(target[..<queryStart]),
        query: queryStart < target.endIndex ? String(target[queryStart...].dropFirst()) : nil),
      fields: fields, framing: body.isEmpty ? .none : .length(body.count))
    count += 1
    let request = Request(head: head, body: RequestBody(body))
    let context = Context(
      id: RequestID(process: 0xabcd, number: count), now: 1_800_000_000_000, uptime: 1_000_000, loop: self,
      peer: IPAddress("192.0.2.1"),
      isEncrypted: false, request: request, addresses: site.addresses, locals: locals)
    let response = await site.respond(request, context, site.plan(head))
    var pieces: [[UInt8]] = []
    if case .bytes(let bytes) = response.body { pieces = [bytes] }
    let left = Mutex(pieces)
    let responseFields = (0..<response.fields.count).map { index in
      TransportRequest.Field(response.fields.name(at: index), response.fields.value(at: index))
    }
    return TransportResponse(status: response.status.code, fields: responseFields) {
      () throws(TransportFailure) -> [UInt8]? in
      left.withLock { $0.popLast() }
    }
  }
}

/// A client of the site with cache, outbox and sync.
struct SiteClient {
  let server: SiteTransport
  let client: Client
  let cache: Cache
  let outbox: Outbox
  let sync: Sync

  /// - Parameters:
  ///   - file: nil for memory.
  ///   - transport: wraps the server.
  init(
    _ site: ScriptedSite, _ name: String, file: String? = nil, _ indexing: MessageIndexing = MessageIndexing(),
    through transport: (SiteTransport) -> any Transport = { $0 }
  ) throws {
    server = site.server(name)
    client = try server.client(over: transport(server))
    cache = try Cache(indexing) { () throws(CacheFault) -> sending any CacheStore in
      if let file { return try DiskStore(file) }
      return MemoryStore()
    }
    outbox = Outbox(
      cache, client, clock: Outbox.Clock(now: TestSite.ticking, pause: { _ in .milliseconds(2) }), open: Self.open)
    sync = Sync(cache, client)
  }

  static let open: @Sendable (PendingFile) async throws -> FileSource = { file in
    FileSource(name: file.name, bytes: Array(try Data(contentsOf: URL(filePath: file.path))))
  }

  /// The cached messages of a conversation, in order.
  func cached(_ conversation: ID<Conversation>) async throws -> [Message] {
    try await cache.messages(.range(1...Int.max, of: conversation)).map(\.message)
  }

  func texts(_ conversation: ID<Conversation>) async throws -> [String] {
    try await cached(conversation).map { $0.content?.text ?? "†" }
  }
}
