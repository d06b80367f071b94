import Foundation
import ParleyCrypto
import ParleyHTTPClient
import ParleyModel
import ParleyNetworking
import ParleyWire
import Previews
import Serving
import Synchronization
import TestSupport
import Testing
import Web
import WebPush
import Webhooks

@testable import API
@testable import Community
@testable import Storage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transport of a request: in memory or over a socket.
enum TestTransport: CaseIterable, Sendable {
  case inMemory, socket
}

/// A site with users over a real store. The same test runs in memory and over a socket.
final class Village: Sendable {
  let community: Community
  let folder: String
  private let delivered: Delivered
  /// The client for outgoing requests, if a test needs one. On this machine it reaches only the test's servers.
  private let outgoing: UntrustedClient?
  /// The client for slash commands, with a time limit of its own.
  private let programs: UntrustedClient?
  /// Delivers to the receiver of the test, if it has one.
  let deliverer: WebhookDeliverer?
  /// Receives the push messages that `pushDeliverer` sends.
  let pushReceiver: PushReceiver
  let pushDeliverer: PushDeliverer
  /// Receives the mail that `mailDeliverer` sends.
  let mailReceiver: MailReceiver
  let mailDeliverer: MailDeliverer
  private let transport: RunningTransport
  private let users: Mutex<[String: (id: ID<User>, token: String)]> = Mutex([:])

  private enum RunningTransport {
    case inMemory(Loop)
    case socket(Server, URLSession)
  }

  static let migrations = Checkout.migrations

  /// English and Arabic, whose texts differ most.
  static let languages: Languages = {
    let files = ["en", "ar"].map { ($0, try? Array(Checkout.text("Public/lang/\($0).json").utf8)) }
    guard let languages = try? Languages(Dictionary(uniqueKeysWithValues: files).compactMapValues(\.self)) else {
      fatalError("the texts can't be read")
    }
    return languages
  }()

  /// Stands for the page of the web app, which has tests of its own.
  static let app = "the app"

  /// Effectively no rate limits.
  static let unlimited: RateLimits = {
    let endless = Allowance(burst: 1_000_000, perMinute: 60_000)
    var rates = RateLimits()
    (rates.login, rates.registration, rates.sending, rates.writing) = (endless, endless, endless, endless)
    (rates.discovery, rates.guessing, rates.previewing) = (endless, endless, endless)
    (rates.delivering, rates.exporting) = (endless, endless)
    rates.reporting = endless
    (rates.oauth, rates.registeringApps) = (endless, endless)
    (rates.signalling, rates.searching, rates.digesting) = (endless, endless, endless)
    return rates
  }()

  /// Minimum hashing cost. Other tests cover the real cost.
  static let cheap = Scrypt(cost: 16, blockSize: 1, parallelism: 1)

  /// Runs a test in a village of ada (owner), mira (moderator), grace and linus (members), robo (bot), and gus (guest).
  ///
  /// - Parameters:
  ///   - isRestarted: whether the site had an earlier start, without events.
  ///   - memory: bytes that a handler may reserve, in memory.
  ///   - pushes: whether the server sends push messages.
  ///   - commandTime: milliseconds in which the program of a slash command must answer.
  ///   - loops: the clock of the server's socket timeouts.
  static func open(
    _ transport: TestTransport, rates: RateLimits = unlimited, bounds: Bounds = Bounds(),
    remotes: [CannedServer]? = nil, receiver: WebhookReceiver? = nil, isRestarted: Bool = false, memory: Int = .max,
    pushes: Bool = true, commandTime: Int = 100_000,
    clock: @escaping @Sendable () -> Int64 = ticking,
    loops: @escaping @Sendable () -> Int64 = ParleyNetworking.Clock.monotonic,
    _ body: (Village) async throws -> Void
  ) async throws {
    let village = try await Village(
      transport, rates, bounds, remotes, receiver, isRestarted, memory, pushes, commandTime, clock, loops)
    do {
      try await body(village)
    } catch {
      await village.close()
      throw error
    }
    await village.close()
  }

  private init(
    _ transport: TestTransport, _ rates: RateLimits, _ bounds: Bounds, _ remotes: [CannedServer]?,
    _ receiver: WebhookReceiver?,
    _ isRestarted: Bool, _ memory: Int, _ pushes: Bool, _ commandTime: Int,
    _ clock: @escaping @Sendable () -> Int64,
    _ loops: @escaping @Sendable () -> Int64
  ) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "parley-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try MigratedDatabase.copy(to: folder)
    // A closed peer is a write error, as in the daemon.
    Signals.ignoreBrokenPipes()
    if isRestarted {
      await (try Store(try DataFolder(folder), migrations: Self.migrations, clock: clock)).close()
    }
    let delivered = Delivered()
    let publisher = API.publisher()
    self.delivered = delivered
    let store = try Store(
      try DataFolder(folder), migrations: Self.migrations, jobs: Community.jobs,
      clock: clock,
      deliver: {
        delivered.add($0.events)
        publisher.enqueue($0)
      },
      // Prints internal errors, which answers do not contain.
      log: { print("The store logs: \($0)") })
    community = Community(store, publisher: publisher, bounds: bounds, passwordCost: Self.cheap)
    var clientLimits = UntrustedLimits()
    clientLimits.timeout = 100_000
    clientLimits.maxIdleConnections = receiver == nil ? 0 : 1
    let ports = remotes?.map(\.port) ?? receiver.map { [$0.port] }
    let policy = UntrustedPolicy.alsoAllowing((ports ?? []).map { (IPAddress(ipv4: 0x7f00_0001), $0) })
    outgoing = try ports.map { [clientLimits] _ in try UntrustedClient(policy, limits: clientLimits) }
    var programLimits = CommandSender.clientLimits
    programLimits.timeout = commandTime
    programs = try receiver.map { [programLimits] _ in try UntrustedClient(policy, limits: programLimits) }
    let sender = programs.map { CommandSender($0, clock: clock) }
    deliverer =
      if receiver != nil, let outgoing { WebhookDeliverer(community, outgoing, clock: clock) } else { nil }
    let deliverer = self.deliverer
    let pushReceiver = PushReceiver()
    self.pushReceiver = pushReceiver
    pushDeliverer = PushDeliverer(
      community,
      try PushService(
        try await community.loadPushKey(), origin: "https://example.org", texts: Self.languages.pushTexts,
        examine: PushReceiver.examine, send: { pushReceiver.receive($0) }))
    let mailReceiver = MailReceiver()
    self.mailReceiver = mailReceiver
    mailDeliverer = MailDeliverer(
      community,
      MailService(
        origin: "https://example.org", sender: MailReceiver.sender, bounces: MailReceiver.bounces,
        replies: MailReceiver.replies, key: try await community.loadMailKey(),
        texts: Self.languages.mailTexts, send: { mailReceiver.receive($0) }))
    let api = API(
      community, release: API.Release(version: "1.2.3", web: "w", minClient: "1.0"), rates: rates,
      previews: remotes == nil ? nil : outgoing.map { LinkPreviews($0, now: clock) },
      outgoing: OutgoingWebhooks(
        url: { policy.address(of: $0, requiresTLS: true)?.description }, examine: { await deliverer?.examine($0) }),
      commands: OutgoingCommands { await sender?.send($0) ?? .failed(.unreachable) },
      push: pushes ? pushDeliverer.service : nil,
      mail: pushes ? mailDeliverer.service : nil, issuers: try OpenIDProvider(clock: clock).service)
    let router = Router { routes in
      api.add(to: &routes)
      let files = PageFiles(style: "/css/page.css", script: "/js/page.js", languages: Self.languages)
      api.addPages(to: &routes, app: { _, _ in .text(Self.app) }, files: files)
    }
    var limits = Limits()
    // Every connection has the same address.
    limits.connectionsPerAddress = limits.connections
    // Test machines are shared: only the village's clock times out a slow consumer.
    limits.byteTime = 600
    limits.socketIdleTime = 600
    let site = Application(router: router, limits: limits)
    switch transport {
    case .inMemory: self.transport = .inMemory(Loop(site, memory: memory))
    case .socket:
      let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
      let server = try Server(
        .init(endpoints: [.init(socket)], loops: 2), application: site, clock: loops, log: { _ in })
      try await server.start()
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpShouldSetCookies = false
      configuration.httpCookieAcceptPolicy = .never
      // Parallel requests have a connection each.
      configuration.httpMaximumConnectionsPerHost = 32
      self.transport = .socket(server, URLSession(configuration: configuration))
    }
    for (name, role) in [
      ("ada", Role.owner), ("mira", .moderator), ("grace", .member), ("linus", .member), ("robo", .bot),
      ("gus", .guest),
    ] {
      try await addUser(name, role)
    }
    await deliverer?.start()
  }

  /// Advances 1 ms per read: by default no two events have the same timestamp.
  static let ticking: @Sendable () -> Int64 = { Int64(clock.add(1, ordering: .relaxed).newValue) }
  private static let clock = Atomic<Int>(1_800_000_000_000)

  /// Creates a user with a session.
  @discardableResult
  func addUser(_ name: String, _ role: Role = .member) async throws -> ID<User> {
    let password = try await community.passwords.hash("\(name)’s password")
    let secret = try Secret.make()
    let id = try await community.store.write { tx throws(Refusal) in
      let id = try tx.add(NewUser(name: name, role: role, password: password))
      _ = try tx.add(
        NewSession(user: id, kind: .session, digest: secret.digest, name: "test", scope: .admin))
      return id
    }
    users.withLock { $0[name] = (id, secret.text) }
    return id
  }

  /// Creates a token for a user.
  func token(_ name: String, _ scope: Scope) async throws -> String {
    let secret = try Secret.make()
    let user = ID<User>(Int(id(name)) ?? 0)
    _ = try await community.store.write { tx throws(Refusal) in
      try tx.add(NewSession(user: user, kind: .token, digest: secret.digest, name: "test", scope: scope))
    }
    return secret.text
  }

  func id(_ name: String) -> String { users.withLock { $0[name]?.id.description ?? "0" } }
  func token(_ name: String) -> String { users.withLock { $0[name]?.token ?? "" } }

  private func close() async {
    community.hub.close()
    if case .socket(let server, let session) = transport {
      session.invalidateAndCancel()
      _ = await server.stop(within: 1)
    }
    await deliverer?.stop(within: .zero)
    outgoing?.close()
    programs?.close()
    await community.store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Signs in with name and password; expects 201.
  @discardableResult
  func signIn(_ name: String, _ password: String, on device: String = "") async throws -> Answer {
    let answer = try await request(.post, "/sessions", ["name": name, "password": password, "device": device])
    #expect(answer.status == 201, "\(name) does not get in: \(answer.text)")
    return answer
  }

  /// Signs a user in again, after an idle session has ended.
  func renewSession(of name: String) async throws {
    let token = try #require(try await signIn(name, "\(name)’s password")["token"])
    users.withLock { $0[name]?.token = token }
  }

  /// Sets a user's state directly in the store.
  func setState(_ name: String, in state: UserState) async throws {
    let id = ID<User>(Int(id(name)) ?? 0)
    try await community.store.write { tx throws(Refusal) in
      guard let before = try tx.user(id) else { throw .notFound }
      var after = before
      after.standing?.state = state
      _ = try tx.change(before, to: after, by: id)
    }
  }

  /// Creates a forum with a room and members.
  @discardableResult
  func forum(_ title: String, _ visibility: Visibility, _ members: [String]) async throws -> String {
    let users = members.map { ID<User>(Int(id($0)) ?? 0) }
    let forum = try await community.store.write { tx throws(Refusal) in
      let (forum, room) = (ID<Forum>(tx.nextID()), tx.nextID())
      try tx.run { connection in
        try connection.execute(
          """
          insert into forum (id, title, visibility, room_id, created_by, created_at)
          values ($1, $2, $3, $4, $5, $6)
          """, forum.number, title, visibility.rawValue, room, users[0].number, Int(tx.now))
        try connection.execute(
          """
          insert into conversation (id, kind, forum_id, created_by, created_at)
          values ($1, 'room', $2, $3, $4)
          """, room, forum.number, users[0].number, Int(tx.now))
      }
      for user in users { try tx.joinForum(user, in: forum) }
      return forum
    }
    return forum.description
  }

  func participants(inRoomOf forum: String) async throws -> [String] {
    try await community.store.readInBackground { tx throws(Refusal) in
      try tx.run { connection in
        try connection.all(
          """
          select p.user_id
          from participant p
          join forum f on f.room_id = p.conversation_id
          where f.id = $1
          """, Int(forum) ?? 0
        ) { row in "\(try row.int(0))" }
      }
    }
  }

  /// Changes the settings as ada, the owner.
  func changeSettings(_ settings: [String: Any]) async throws {
    let answer = try await request(.patch, "/settings", as: "ada", settings)
    #expect(answer.status == 200, "\(answer.text)")
  }

  // MARK: Realtime

  /// Opens a WebSocket, anonymous without a name.
  func connect(
    _ query: String = "", as name: String?, fields: Fields = Fields(), subprotocols: [String] = [],
    at path: String = "/realtime"
  ) throws -> LiveClient {
    guard case .socket(let server, _) = transport else {
      throw LiveClient.NoResponse(description: "in-memory tests have no sockets")
    }
    var fields = fields
    if let name { fields.add("Authorization", "Bearer \(token(name))") }
    return try .connect(
      to: server.addresses[0], API.base + path + (query.isEmpty ? "" : "?" + query), fields: fields,
      subprotocols: subprotocols)
  }

  var serverAddress: SocketAddress? { if case .socket(let server, _) = transport { server.addresses[0] } else { nil } }

  /// The site's own origin, as its pages send it.
  var origin: String {
    if case .socket(let server, _) = transport {
      "http://127.0.0.1:\(server.addresses[0].port ?? 0)"
    } else {
      "http://localhost"
    }
  }

  /// The monotonic time in milliseconds.
  var now: Int64 { ParleyNetworking.Clock.monotonic() / 1_000_000 }

  /// Advances the hub's clock to `seconds` after `moment` or the current time. Returns the new time.
  @discardableResult
  func advanceClock(_ seconds: Int, since moment: Int64? = nil) -> Int64 {
    let time = (moment ?? now) + Int64(seconds) * 1_000
    community.hub.tick(now: time, wall: ParleyNetworking.Clock.wall() / 1_000_000)
    return time
  }

  /// The cursor of a client that is up to date.
  func cursor(_ topics: String = "me", as name: String?) async throws -> String {
    let answer = try await request(.get, "/sync?topics=\(topics)", as: name)
    return try #require(answer["cursor"], "\(answer.text)")
  }

  // MARK: Requests

  /// `name` is nil for a visitor.
  @discardableResult
  func request(
    _ method: Method, _ path: String, as name: String? = nil, _ body: [String: Any]? = nil, fields: Fields = Fields()
  ) async throws -> Answer {
    let bytes = try body.map { try Array(JSONSerialization.data(withJSONObject: $0, options: .fragmentsAllowed)) }
    return try await send(method, path, as: name, bytes ?? [], fields: fields)
  }

  /// The address of later requests of in-memory tests.
  func move(to address: IPAddress?) async {
    if case .inMemory(let loop) = transport { await loop.move(to: address) }
  }

  /// Sends a body that may be invalid JSON. Checks every answer against `Public/openapi.json`.
  func send(
    _ method: Method, _ path: String, as name: String? = nil, _ body: [UInt8], fields: Fields = Fields()
  ) async throws -> Answer {
    let answer = try await answer(method, path, as: name, body, fields)
    do {
      try Description.shipped?.check(answer, to: method, path)
    } catch {
      Issue.record("\(method.name) \(path) \(answer.status) does not match Public/openapi.json: \(error)")
    }
    return answer
  }

  /// Requests a page as a browser does, with the session cookie of `name`.
  func page(_ path: String, as name: String? = nil, fields: Fields = Fields()) async throws -> Answer {
    var fields = fields
    if let name { fields.add("Cookie", "parley=\(token(name))") }
    return try await answer(.get, path, as: nil, [], fields, base: "")
  }

  /// Submits a form of a page.
  func submit(_ path: String, _ form: String, fields more: Fields = Fields()) async throws -> Answer {
    var fields = more
    if !fields.has("content-type") { fields.add("Content-Type", "application/x-www-form-urlencoded") }
    return try await answer(.post, path, as: nil, Array(form.utf8), fields, base: "")
  }

  private func answer(
    _ method: Method, _ path: String, as name: String?, _ body: [UInt8], _ fields: Fields, base: String = API.base
  ) async throws -> Answer {
    var fields = fields
    if let name { fields.add("Authorization", "Bearer \(token(name))") }
    if !body.isEmpty, !fields.has("content-type") { fields.add("Content-Type", "application/json") }
    switch transport {
    case .inMemory(let loop): return await loop.send(method, base + path, fields, body)
    case .socket(_, let session):
      let address = "\(origin)\(base)\(path)"
      var request = URLRequest(url: try #require(URL(string: address)))
      request.httpMethod = method.name
      for index in 0..<fields.count {
        request.addValue(fields.value(at: index), forHTTPHeaderField: fields.name(at: index))
      }
      if !body.isEmpty { request.httpBody = Data(body) }
      let (data, response) = try await session.data(for: request)
      let http = try #require(response as? HTTPURLResponse)
      var answer = Fields()
      for (name, value) in http.allHeaderFields { answer.add("\(name)", "\(value)") }
      return Answer(status: http.statusCode, fields: answer, body: Array(data))
    }
  }

  /// Events that `body` wrote to the log, such as `message.created conversation:12 #1` with the revision 1.
  func events(_ body: () async throws -> Void) async throws -> [String] {
    let before = delivered.all.count
    try await body()
    return delivered.all.dropFirst(before).map { event in
      "\(event.kind.name) \(event.stream)" + (event.revision > 0 ? " #\(event.revision)" : "")
    }
  }

  private final class Delivered: Sendable {
    private let events = Mutex<[Event]>([])
    func add(_ more: [Event]) { events.withLock { $0 += more } }
    var all: [Event] { events.withLock { $0 } }
  }
}

/// The response of the API.
struct Answer: Sendable {
  let status: Int
  let fields: Fields
  let body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }
  /// The parsed body; nil if it is not JSON.
  private var value: Any? { try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed) }

  /// Looks up a path of names and indices, such as `data.0.text`.
  func find(_ path: String) -> Any? {
    path.split(separator: ".").reduce(value) { value, step in
      if let list = value as? [Any] { return Int(step).flatMap { list.indices.contains($0) ? list[$0] : nil } }
      return (value as? [String: Any])?[String(step)]
    }
  }

  subscript(_ path: String) -> String? { find(path) as? String }
  func int(_ path: String) -> Int? { (find(path) as? NSNumber)?.intValue }
  func bool(_ path: String) -> Bool? { (find(path) as? NSNumber)?.boolValue }
  func isNull(_ path: String) -> Bool { find(path) is NSNull }
  func has(_ path: String) -> Bool { find(path) != nil }
  func count(_ path: String) -> Int { (find(path) as? [Any])?.count ?? 0 }
  func texts(_ list: String, _ name: String) -> [String?] {
    (find(list) as? [[String: Any]])?.map { $0[name] as? String } ?? []
  }
  func list(_ path: String) -> [String] { find(path) as? [String] ?? [] }
  var code: String? { self["code"] }
}

/// Stands in for a connection's event loop.
private actor Loop {
  private let site: Application
  private let locals = Locals()
  private let memory: Memory
  private var count: UInt64 = 0
  private var peer = IPAddress("192.0.2.1")

  init(_ site: Application, memory: Int) { (self.site, self.memory) = (site, Memory(limit: memory)) }

  private final class Memory: RequestMemory {
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func reserve(_ bytes: Int) -> Bool { bytes <= limit }
  }

  func move(to address: IPAddress?) { peer = address }

  func send(_ method: Method, _ target: String, _ fields: Fields, _ body: [UInt8]) async -> Answer {
    let queryStart = target.firstIndex(of: "?") ?? target.endIndex
    let head = RequestHead(
      method: method,
      target: Target(
        path: String(target[..<queryStart]),
        query: queryStart < target.endIndex ? String(target[queryStart...].dropFirst()) : nil),
      fields: fields, framing: body.isEmpty ? .none : .length(body.count))
    count += 1
    let request = Request(head: head, body: RequestBody(body))
    let context = Context(
      id: RequestID(process: 0xabcd, number: count), now: 1_800_000_000_000, uptime: 1_000_000, loop: self,
      peer: peer,
      isEncrypted: false, request: request, addresses: site.addresses, locals: locals,
      memory: memory)
    let response = await site.respond(request, context, site.plan(head))
    var bytes: [UInt8] = []
    switch response.body {
    case .bytes(let content): bytes = content
    case .segments(let segments):
      for segment in segments {
        switch segment {
        case .bytes(let content): bytes += content
        case .file(let file, let range): bytes += file.read(range) ?? []
        }
      }
    case .none, .stream, .webSocket: break
    }
    if method == .head { bytes = [] }
    return Answer(status: response.status.code, fields: response.fields, body: bytes)
  }
}
