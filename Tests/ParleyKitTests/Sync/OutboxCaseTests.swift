import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import TestSupport
import Testing

@testable import ParleyKit

/// A case of `Tests/Contract/outbox.json`, which also tests the JavaScript outbox.
struct OutboxCase: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  let steps: [Step]
  let after: After

  var testDescription: String { name }

  /// An action of the user, a restart of the app, or a run of the outbox with these answers of the network.
  struct Step: Decodable, Sendable {
    let send: String?
    let reply_to: String?
    let edit: String?
    let text: String?
    let delete: String?
    let set_action: String?
    let remove_action: String?
    let read: String?
    /// The operation has this name, and so does the new title.
    let update_conversation: String?
    let leave_conversation: String?
    let retry: String?
    let cancel: String?
    let restart: Bool?
    let answers: [Answer]?
  }

  indirect enum Answer: Decodable, Sendable {
    case stored, lost, timeout, unreachable
    case problem(status: Int, code: String, retryAfter: Int?)
    case page(status: Int, type: String)
    /// The steps run before the answer. Without an answer it is lost.
    case held([Step], then: Answer)

    private enum CodingKeys: CodingKey { case status, code, retry_after, page, held, then }

    init(from decoder: any Decoder) throws {
      if let word = try? decoder.singleValueContainer().decode(String.self) {
        let words: [String: Answer] = [
          "stored": .stored, "lost": .lost, "timeout": .timeout, "unreachable": .unreachable,
        ]
        self = try #require(words[word])
        return
      }
      let row = try decoder.container(keyedBy: CodingKeys.self)
      if let steps = try row.decodeIfPresent([Step].self, forKey: .held) {
        self = .held(steps, then: try row.decodeIfPresent(Answer.self, forKey: .then) ?? .lost)
      } else if let type = try row.decodeIfPresent(String.self, forKey: .page) {
        self = .page(status: try row.decode(Int.self, forKey: .status), type: type)
      } else {
        self = .problem(
          status: try row.decode(Int.self, forKey: .status), code: try row.decode(String.self, forKey: .code),
          retryAfter: try row.decodeIfPresent(Int.self, forKey: .retry_after))
      }
    }
  }

  struct After: Decodable, Sendable {
    let operations: [Row]
    let requests: [String]?
    let messages: [String?]?
    /// Seconds, or the number of attempts before a backoff; nil if there is no delay.
    let delay: String?
    let hasDelay: Bool

    private enum CodingKeys: CodingKey { case operations, requests, messages, delay }

    init(from decoder: any Decoder) throws {
      let row = try decoder.container(keyedBy: CodingKeys.self)
      operations = try row.decode([Row].self, forKey: .operations)
      requests = try row.decodeIfPresent([String].self, forKey: .requests)
      messages = try row.decodeIfPresent([String?].self, forKey: .messages)
      hasDelay = row.contains(.delay)
      let seconds = try? row.decodeIfPresent(Int.self, forKey: .delay)
      delay = try seconds.map { "\($0)" } ?? row.decodeIfPresent(String.self, forKey: .delay)
    }
  }

  struct Row: Decodable, Sendable {
    let send: String?
    let edit: String?
    let delete: String?
    let set_action: String?
    let remove_action: String?
    let update_conversation: String?
    let leave_conversation: String?
    let failed: String?
    let may_be_sent: Bool?

    var name: String {
      let words = [
        ("send", send), ("edit", edit), ("delete", delete), ("set_action", set_action),
        ("remove_action", remove_action), ("update_conversation", update_conversation),
        ("leave_conversation", leave_conversation),
      ]
      return words.compactMap { word, target in target.map { "\(word) \($0)" } }.joined()
    }
  }

  static var all: [OutboxCase] { get throws { try Checkout.cases("outbox.json") } }
}

@Test func `the outbox cases have unique names`() throws {
  let cases = try OutboxCase.all
  #expect(!cases.isEmpty && Set(cases.map(\.name)).count == cases.count)
}

@Test(arguments: try OutboxCase.all)
func `a case leads to its outbox`(row: OutboxCase) async throws {
  try await ScriptedSite.open { site in
    let player = try await CasePlayer(site)
    for step in row.steps { try await player.play(step) }
    try await player.check(row.after)
  }
}

/// Plays ada at the app.
private actor CasePlayer {
  private let site: ScriptedSite
  private let garden: ID<Conversation>
  private let network: CaseNetwork
  private let client: Client
  private let names = CaseNames()
  private var store: CaseStoreLife
  private var cache: Cache
  private var outbox: Outbox

  init(_ site: ScriptedSite) async throws {
    self.site = site
    garden = try await site.group("ada", "grace")
    let server = site.server("ada")
    network = CaseNetwork(server, site, garden)
    client = try server.client(over: network)
    store = CaseStoreLife()
    (cache, outbox) = try Self.open(store, client, names)
    try await Sync(cache, client).catchUp()
  }

  private static func open(
    _ life: CaseStoreLife, _ client: Client, _ names: CaseNames
  ) throws -> (Cache, Outbox) {
    let cache = try Cache { () throws(CacheFault) -> sending any CacheStore in CaseStore(life) }
    let clock = Outbox.Clock(
      now: TestSite.ticking, name: { names.next() }, pause: { .seconds(1_000_000 + $0) },
      wait: { time in
        names.delays.withLock { $0.append(time) }
        try await Task.sleep(for: .seconds(86_400))
      })
    return (cache, Outbox(cache, client, clock: clock, open: SiteClient.open))
  }

  /// Kills the app and opens it with what it had stored.
  private func restart() throws {
    store = store.end()
    (cache, outbox) = try Self.open(store, client, names)
  }

  func play(_ step: OutboxCase.Step) async throws {
    if let name = step.send {
      names.given.withLock { $0 = name }
      try await outbox.send(Draft(name, replyTo: step.reply_to.map { .unsent($0) }), in: garden)
    } else if let name = step.edit {
      try await outbox.edit(.unsent(name), in: garden, to: try #require(step.text))
    } else if let name = step.delete {
      try await outbox.delete(.unsent(name), in: garden)
    } else if let name = step.set_action {
      try await outbox.setAction(.like, on: .unsent(name), in: garden)
    } else if let name = step.remove_action {
      try await outbox.setAction(.like, on: .unsent(name), in: garden, isSet: false)
    } else if let name = step.read {
      let message = try #require(try await cache.messages(.clientIDs([name])).first).message
      try await outbox.markRead(message.id, in: garden)
    } else if let name = step.update_conversation {
      names.given.withLock { $0 = name }
      try await outbox.updateConversation(garden, ConversationChange([.set(\.title, name)]))
    } else if let name = step.leave_conversation {
      names.given.withLock { $0 = name }
      try await outbox.leaveConversation(garden)
      network.departure.withLock { $0 = name }
    } else if let name = step.retry {
      try await outbox.retry(name)
    } else if let name = step.cancel {
      try await outbox.cancel(name)
    } else if step.restart == true {
      try restart()
    } else if let answers = step.answers {
      try await run(answers)
    }
  }

  private func run(_ answers: [OutboxCase.Answer]) async throws {
    names.delays.withLock { $0 = [] }
    network.expect(answers) { [weak self] steps in
      do {
        for step in steps { try await self?.play(step) }
      } catch {
        Issue.record(error)
      }
    }
    try await outbox.start()
    try await wait { await isIdle() }
    await outbox.stop()
  }

  /// Whether all answers were given and nothing is sent without a delay.
  private func isIdle() async -> Bool {
    guard network.isIdle, await outbox.lanes.isEmpty else { return false }
    guard await outbox.isRunning else { return true }
    let operations = await cache.operations
    let isReady = operations.values.contains { operation in
      operation.state == .pending && operation.dependsOn.map { operations[$0] == nil } ?? true
    }
    guard await outbox.retryTimers[garden] != nil else { return !isReady }
    return names.delays.withLock { !$0.isEmpty }
  }

  func check(_ after: OutboxCase.After) async throws {
    let operations = await outbox.list()
    var found: [String] = []
    for operation in operations { found.append(try await name(of: operation)) }
    #expect(found == after.operations.map(\.name))
    for (operation, row) in zip(operations, after.operations) {
      // The kit lists an operation that a restart interrupted as failed until `start`.
      let failure = operation.failure == .unfinished ? nil : operation.failure
      #expect(failure.map { $0.problem?.code.rawValue ?? "\($0)" } == row.failed, "\(row.name)")
      if let mayBeSent = row.may_be_sent { #expect(operation.mayBeSent == mayBeSent, "\(row.name)") }
    }
    if let requests = after.requests { #expect(network.requests == requests) }
    if let messages = after.messages {
      let stored = try await site.messages(of: garden, as: "ada").map(\.message.content?.text)
      #expect(stored == messages)
    }
    guard after.hasDelay else { return }
    let delay = names.delays.withLock { $0.last }.map { time in
      let seconds = time.components.seconds
      return seconds > 1_000_000 ? "backoff after \(seconds - 1_000_000)" : "\(seconds)"
    }
    #expect(delay == after.delay)
  }

  private func name(of operation: OutboxOperation) async throws -> String {
    let word =
      switch operation.work {
      case .send: "send"
      case .edit: "edit"
      case .delete: "delete"
      case .action(_, _, let isSet): isSet ? "set_action" : "remove_action"
      case .read: "read"
      case .createConversation, .updateConversation, .leaveConversation, .deleteConversation: operation.kind.rawValue
      }
    guard operation.kind != .send, let target = operation.target else { return "\(word) \(operation.id)" }
    switch target {
    case .unsent(let name): return "\(word) \(name)"
    case .message(let id): return "\(word) \(try await network.name(of: id))"
    }
  }
}

/// The names of new operations, and the delays of an outbox.
private final class CaseNames: Sendable {
  let given = Mutex<String?>(nil)
  let delays = Mutex<[Duration]>([])

  func next() -> String {
    given.withLock { name in
      defer { name = nil }
      return name ?? Outbox.Clock.randomName()
    }
  }
}

/// The stored rows of an app, as long as it lives.
private final class CaseStoreLife: Sendable {
  private let state: Mutex<(changes: [CacheChanges], isOver: Bool)>

  init(_ changes: [CacheChanges] = []) { state = Mutex((changes, false)) }

  var changes: [CacheChanges] { state.withLock { $0.changes } }

  func save(_ changes: CacheChanges) throws(CacheFault) {
    let isOver = state.withLock { state in
      if !state.isOver { state.changes.append(changes) }
      return state.isOver
    }
    if isOver { throw .broken("killed") }
  }

  /// - Returns: the next life.
  func end() -> CaseStoreLife {
    state.withLock { $0.isOver = true }
    return CaseStoreLife(changes)
  }
}

private final class CaseStore: CacheStore {
  private let store = MemoryStore()
  private let life: CaseStoreLife

  init(_ life: CaseStoreLife) {
    self.life = life
    for changes in life.changes { store.save(changes) }
  }

  func save(_ changes: CacheChanges) throws(CacheFault) {
    try life.save(changes)
    store.save(changes)
  }

  func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow] { store.rows(of: table) }

  func erase(keeping kept: [CacheRow]) throws(CacheFault) { store.erase(keeping: kept) }
}

/// A network that answers changing requests as a case says.
private final class CaseNetwork: Transport {
  typealias Hook = @Sendable ([OutboxCase.Step]) async -> Void

  private struct State {
    var answers: [OutboxCase.Answer] = []
    var hook: Hook = { _ in }
    var requests: [String] = []
    var underWay = 0
  }

  private let server: SiteTransport
  private let site: ScriptedSite
  private let garden: ID<Conversation>
  private let state = Mutex(State())
  /// The name of the operation that leaves the conversation.
  let departure = Mutex("")

  init(_ server: SiteTransport, _ site: ScriptedSite, _ garden: ID<Conversation>) {
    (self.server, self.site, self.garden) = (server, site, garden)
  }

  var requests: [String] { state.withLock { $0.requests } }
  var isIdle: Bool { state.withLock { $0.answers.isEmpty && $0.underWay == 0 } }

  func expect(_ answers: [OutboxCase.Answer], _ hook: @escaping Hook) {
    state.withLock { ($0.answers, $0.hook) = (answers, hook) }
  }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    guard exchange.method != "GET" else { return try await server.send(exchange) }
    let request = await describe(exchange)
    let answer = state.withLock { state -> OutboxCase.Answer? in
      state.requests.append(request)
      state.underWay += 1
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    defer { state.withLock { $0.underWay -= 1 } }
    guard let answer else {
      Issue.record("unexpected request: \(request)")
      throw .unreachable("unexpected")
    }
    return try await perform(exchange, answer)
  }

  private func perform(
    _ exchange: TransportRequest, _ answer: OutboxCase.Answer
  ) async throws(TransportFailure) -> TransportResponse {
    switch answer {
    case .stored: return try await server.send(exchange)
    case .lost:
      _ = try await server.send(exchange)
      throw .interrupted("lost")
    case .timeout:
      _ = try await server.send(exchange)
      throw .timedOut
    case .unreachable: throw .unreachable("no network")
    case .problem(let status, let code, let retryAfter):
      var fields = [TransportRequest.Field("Content-Type", "application/problem+json")]
      if let retryAfter { fields.append(.init("Retry-After", "\(retryAfter)")) }
      return Self.response(status, fields, #"{"code":"\#(code)","status":\#(status),"title":"No."}"#)
    case .page(let status, let type):
      return Self.response(status, [.init("Content-Type", type)], "<html>Welcome</html>")
    case .held(let steps, let then):
      let hook = state.withLock { $0.hook }
      do throws(TransportFailure) {
        let response = try await perform(exchange, then)
        await hook(steps)
        return response
      } catch {
        await hook(steps)
        throw error
      }
    }
  }

  private static func response(
    _ status: Int, _ fields: [TransportRequest.Field], _ body: String
  ) -> TransportResponse {
    let pieces = Mutex([Array(body.utf8)])
    return TransportResponse(status: status, fields: fields) { () throws(TransportFailure) -> [UInt8]? in
      pieces.withLock { $0.popLast() }
    }
  }

  /// The operation and the name of its message.
  private func describe(_ exchange: TransportRequest) async -> String {
    let path = exchange.target.split(separator: "/").map(String.init)
    if path.last == "read" { return "read" }
    if path.last == "messages", case .bytes(let bytes) = exchange.body,
      var body = try? JSONValue(parsing: bytes).object(), let name = try? body.string("client_id")
    {
      return "post \(name)"
    }
    if case .bytes(let bytes) = exchange.body, exchange.method == "PATCH", !path.contains("messages"),
      var body = try? JSONValue(parsing: bytes).object(), let name = try? body.string("title")
    {
      return "update_conversation \(name)"
    }
    if path.contains("participants") { return "leave_conversation \(departure.withLock { $0 })" }
    guard let index = path.firstIndex(of: "messages"), path.indices.contains(index + 1),
      let id = ID<Message>(path[index + 1]), let name = try? await name(of: id)
    else { return "\(exchange.method) \(exchange.target)" }
    let word =
      switch exchange.method {
      case "PATCH": "edit"
      case "PUT": "set_action"
      default: path.contains("actions") ? "remove_action" : "delete"
      }
    return "\(word) \(name)"
  }

  /// The name of a message is its `client_id`.
  func name(of id: ID<Message>) async throws -> String {
    let messages = try await site.messages(of: garden, as: "ada").map(\.message)
    return messages.first { $0.id == id }?.clientID ?? "\(id)"
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    throw .unreachable("no socket")
  }
}
