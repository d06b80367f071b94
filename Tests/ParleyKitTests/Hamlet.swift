import Foundation
import JSON
import Model
import Synchronization
import Testing
import Web
import Wire

@testable import API
@testable import Community
@testable import ParleyKit
@testable import Storage

/// A real server without sockets, for clients whose network does what a test says.
final class Hamlet: Sendable {
  let ground: Ground
  private let loop: HamletLoop

  var community: Community { ground.community }

  /// Runs a test with ada, grace and linus there.
  static func open(_ body: (Hamlet) async throws -> Void) async throws {
    try await Ground.open { ground in try await body(Hamlet(ground)) }
  }

  private init(_ ground: Ground) {
    self.ground = ground
    loop = HamletLoop(ground.site)
  }

  func id(_ name: String) -> ID<Account> { ground.id(name) }

  /// Somebody's way to the server.
  func server(_ name: String) -> HamletServer {
    HamletServer(loop, token: ground.token(name) ?? "")
  }

  /// A group of these people, made by the first.
  func group(_ names: String...) async throws -> ID<Conversation> {
    let call = ServerCall.json(.post, "/conversations") { json in
      json.field("kind", "group")
      json.field("title", "garden")
      json.field("participants", names.dropFirst().map { id($0) })
    }
    let made: OwnConversation = try await server(names[0]).value(call)
    // Whoever is drawn into a group by somebody new to them takes the request.
    for name in names.dropFirst() {
      _ = try await server(name).answer(to: ServerCall(.put, "/conversations/\(made.conversation.id)/request"))
    }
    return made.conversation.id
  }

  @discardableResult
  func post(
    _ text: String, as name: String, in conversation: ID<Conversation>, _ annotations: [Draft.Annotation] = []
  ) async throws -> Message {
    let call = ServerCall.json(.post, "/conversations/\(conversation)/messages") { json in
      json.field("text", text)
      if !annotations.isEmpty { json.field("annotations", annotations) }
    }
    let said: SeenMessage = try await server(name).value(call)
    return said.message
  }

  /// Every message of a conversation, as the server has it.
  func messages(of conversation: ID<Conversation>, as name: String) async throws -> [SeenMessage] {
    var all: [SeenMessage] = []
    var query = [QueryItem("order", "asc"), .init("limit", "200"), .init("include_machine", "true")]
    while true {
      let page: ListPage<SeenMessage> = try await server(name).value(
        ServerCall(.get, "/conversations/\(conversation)/messages", query))
      all += page.elements
      guard page.hasMore, let last = page.elements.last else { return all }
      query = [
        .init("order", "asc"), .init("limit", "200"), .init("include_machine", "true"),
        .init("after", last.message.id.description),
      ]
    }
  }
}

struct ListPage<Element: JSONReadable>: JSONReadable {
  let elements: [Element]
  let hasMore: Bool

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    elements = try object.read("data")
    hasMore = try object.bool("more")
  }
}

extension ServerCall {
  static func json(_ method: RequestMethod, _ path: String, _ members: (inout JSONWriter) -> Void) -> ServerCall {
    var call = ServerCall(method, path)
    var json = JSONWriter()
    json.object(members)
    call.body = JSONRaw(trusted: json.bytes)
    return call
  }
}

/// A network between a client and the hamlet.
final class HamletServer: PlaceServer {
  private let loop: HamletLoop
  private let token: String
  private let weather = Mutex(Weather())

  struct Weather: Sendable {
    var isOffline = false
    /// The server does so many more calls of these methods, and then its answers get lost.
    var answersLost = 0
    /// So many calls until the network is gone.
    var callsLeft = Int.max
    var asked: [String] = []
  }

  fileprivate init(_ loop: HamletLoop, token: String) {
    self.loop = loop
    self.token = token
  }

  static let noNetwork = ClientFault.offline("there is no network")

  func set(_ change: (inout Weather) -> Void) { weather.withLock { change(&$0) } }

  var asked: [String] { weather.withLock { $0.asked } }

  func answer(to call: ServerCall) async throws(ClientFault) -> [UInt8] {
    let isThrough = weather.withLock { weather in
      guard !weather.isOffline, weather.callsLeft > 0 else { return false }
      weather.callsLeft -= 1
      weather.asked.append("\(call.method.rawValue) \(call.path)")
      return true
    }
    guard isThrough else { throw Self.noNetwork }
    var fields: Fields = ["Authorization": "Bearer \(token)"]
    if call.body != nil { fields.add("Content-Type", "application/json") }
    let method = Wire.Method(call.method.rawValue)
    let query = call.query.map {
      "\($0.name)=\($0.value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    let target = API.base + call.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    let (status, body) = await loop.send(method, target, fields, call.body?.bytes ?? [])
    let isLost = weather.withLock { weather in
      guard call.method != .get, weather.answersLost > 0 else { return false }
      weather.answersLost -= 1
      return true
    }
    if isLost { throw Self.noNetwork }
    guard (200..<300).contains(status) else {
      throw Reply(status: status, fields: [], body: body).fault
    }
    return body
  }

  func upload(
    _ file: PendingFile, progress: @escaping @Sendable (Int, Int) -> Void
  ) async throws(ClientFault) -> ID<File> {
    guard let bytes = FileManager.default.contents(atPath: file.path) else {
      throw .unreadable(file.path)
    }
    progress(0, bytes.count)
    guard weather.withLock({ !$0.isOffline }) else { throw Self.noNetwork }
    let fields: Fields = ["Authorization": "Bearer \(token)", "Content-Type": file.mimeType]
    let (status, body) = await loop.send(
      .post, "\(API.base)/files?name=\(file.name)&client_id=\(file.id)", fields, Array(bytes))
    guard status < 300, var object = try? JSONValue(parsing: body).object(), let id: ID<File> = try? object.read("id")
    else { throw .notUnderstood("\(status)") }
    progress(bytes.count, bytes.count)
    return id
  }

  func value<Value: JSONReadable>(_ call: ServerCall) async throws -> Value {
    let bytes = try await answer(to: call)
    return try Value(json: JSONValue(parsing: bytes))
  }
}

/// Requests go straight into the site.
private actor HamletLoop {
  private let site: Site
  private let locals = Locals()
  private var count: UInt64 = 0

  init(_ site: Site) { self.site = site }

  func send(
    _ method: Wire.Method, _ target: String, _ fields: Fields, _ body: [UInt8]
  ) async -> (status: Int, body: [UInt8]) {
    let mark = target.firstIndex(of: "?") ?? target.endIndex
    let head = RequestHead(
      method: method,
      target: Target(
        path: String(target[..<mark]), query: mark < target.endIndex ? String(target[mark...].dropFirst()) : nil),
      fields: fields, framing: body.isEmpty ? .none : .length(body.count))
    count += 1
    let context = Context(
      id: RequestID(process: 0xabcd, number: count), now: 1_800_000_000_000, loop: self, peer: IPAddress("192.0.2.1"),
      isEncrypted: false, head: head, addresses: site.addresses, locals: locals)
    let response = await site.respond(Request(head: head, body: RequestBody(body)), context, site.plan(head))
    guard case .bytes(let bytes) = response.body else { return (response.status.code, []) }
    return (response.status.code, bytes)
  }
}

/// A client of the hamlet: what it holds, what it says, how it follows.
struct HamletClient {
  let server: HamletServer
  let cache: Cache
  let outbox: Outbox
  let sync: Sync

  /// - Parameter file: nil for memory.
  init(_ hamlet: Hamlet, _ name: String, file: String? = nil, _ indexing: MessageIndexing = MessageIndexing()) throws {
    server = hamlet.server(name)
    cache = try Cache(indexing) { () throws(CacheFault) -> sending any CacheStore in
      if let file { return try DiskStore(file) }
      return MemoryStore()
    }
    outbox = Outbox(
      cache, server, clock: Outbox.Clock(now: Ground.ticking, pause: { _ in .milliseconds(2) }))
    sync = Sync(cache, server)
  }

  /// What is held of a conversation, in order.
  func held(_ conversation: ID<Conversation>) async throws -> [Message] {
    try await cache.messages(.stretch(1...Int.max, of: conversation)).map(\.message)
  }

  func texts(_ conversation: ID<Conversation>) async throws -> [String] {
    try await held(conversation).map { $0.content?.text ?? "†" }
  }
}
