// `parley tail`: prints events as they happen, one per line. With a data folder it reads server-sent events from the
// control socket of its daemon, with the owner's rights. Otherwise it opens a live connection as the signed-in user.

import Glibc
import ParleyJSON
import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyWire
import Storage
import Synchronization

extension Command {
  static let tail = Command(
    "tail", operands: ["TOPICS"], summary: "print events as they happen",
    settings: TailCommand.settings, operations: ["openRealtime"], help: Help.tail, run: TailCommand.run)
}

enum TailCommand {
  private static let after = Setting(
    name: "after", value: "CURSOR", summary: "first print the events after this cursor", isFlagOnly: true)
  fileprivate static let settings: [Setting] = [.json, after, .data, CLISession.profile]

  static func run(_ arguments: [String]) async -> Int32 {
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "tail", TailCommand.settings,
        operands: ["list of TOPICS"])
      return try await run(settings).report()
    } catch {
      return Outcome(error).report()
    }
  }

  private static func run(_ settings: Settings) async throws -> Outcome {
    let cursor = settings.text(after)
    guard cursor?.allSatisfy({ $0.isASCII && ($0 == "." || $0.isLetter || $0.isNumber) }) ?? true else {
      throw Settings.UsageError(message: "\"\(cursor ?? "")\" is not a valid cursor.")
    }
    let data = settings.text(.data)
    if data == nil, !FileSystem.exists("./data"), try CLISession.isSignedIn(settings) {
      let session = try CLISession(settings)
      let topics = try await topics(settings.operands[0], of: session)
      return try await print(session.client, topics, cursor, settings.isOn(.json))
    }
    let topics = try await topics(settings.operands[0], of: nil)
    return try await print(settings.dataFolder, topics, cursor, settings.isOn(.json))
  }

  /// Prints events of the live connection.
  private static func print(
    _ client: Client, _ topics: [LiveTopic], _ cursor: String?, _ isJSON: Bool
  ) async throws -> Outcome {
    let live = LiveConnection(client, topics: topics, after: cursor)
    let names = ActorNames()
    // Logged once per outage, not per retry.
    var logged: ClientFault?
    for await update in live {
      switch update {
      case .event(let frame), .signal(let frame):
        let bytes = frame.representation.bytes
        if !isJSON { await names.load(actorOf: bytes, from: client) }
        guard TailFeed.print(bytes, isJSON, names) else { return Outcome(.success, "") }
      case .live:
        if logged != nil { Terminal.log("Reconnected.") }
        logged = nil
      case .restarted: break
      case .reset(_, let cursor):
        Terminal.log("Events since the cursor are no longer available. Continuing with new events.")
        live.resume(from: cursor)
      case .disconnected(let fault, _):
        if logged?.userMessage != fault.userMessage { Terminal.log("\(fault.userMessage) Retrying.") }
        logged = fault
      case .ended(let fault): throw fault
      }
    }
    return Outcome(.success, "")
  }

  /// Prints server-sent events of the daemon.
  private static func print(
    _ data: String, _ topics: [LiveTopic], _ cursor: String?, _ isJSON: Bool
  ) async throws -> Outcome {
    try requireServer(data)
    let query = "topics=" + topics.map(\.description).joined(separator: ",") + (cursor.map { "&after=" + $0 } ?? "")
    let socket = try ControlSocket(in: data)
    var request = HTTPRequest(address: socket.address, host: "localhost", name: "the daemon", path: "/events?" + query)
    request.timeout = 60
    request.isStreaming = true
    let names = ActorNames()
    if !isJSON { try await names.loadAll(from: ControlClient(data: data)) }
    let feed = TailFeed(isJSON: isJSON, names)
    defer { withExtendedLifetime(socket) {} }
    let status = try await request.stream { status, bytes in feed.receive(status, bytes) }
    if status == .notFound { return Outcome(.failure, "The owner can't subscribe to one of the topics.") }
    guard status == .ok else { throw RefusedRequest(status, feed.body) }
    return Outcome(.success, "The server has stopped.")
  }

  /// Parses the topics. Their characters need no escaping in a query.
  ///
  /// - Parameter session: finds the conversations of titles, ids and names, as in other commands; nil for a data folder.
  private static func topics(_ text: String, of session: CLISession?) async throws -> [LiveTopic] {
    var topics: [LiveTopic] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      if let topic = LiveTopic(part) {
        topics.append(topic)
      } else if let session, !part.isEmpty, !prefixes.contains(where: { part.hasPrefix($0) }) {
        topics.append(.conversation(try await session.conversation(part)))
      } else {
        throw Settings.UsageError(
          message: """
            "\(Terminal.plain(part))" is not a topic. Topics are me, conversation:ID, forum:ID, forum:ID/messages, timeline, \
            app:NAME and presence.
            """)
      }
    }
    return topics
  }

  /// Beginnings of topics. A text with one of them is never a title.
  private static let prefixes = ["conversation:", "forum:", "app:"]

  /// Throws unless a daemon has locked the data folder.
  private static func requireServer(_ data: String) throws(Settings.UsageError) {
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    do throws(DataFolder.Fault) {
      _ = try DataFolder(data)
    } catch {
      guard case .inUse = error else { throw Settings.UsageError(message: error.description) }
      return
    }
    throw Settings.UsageError(message: "No server uses \(data). Start one with parley serve.")
  }
}

/// Decodes a stream of server-sent events and prints them.
private final class TailFeed: Sendable {
  private let isJSON: Bool
  private let names: ActorNames
  private let buffer = Mutex<[UInt8]>([])
  /// Longer than any event.
  private static let maxEventBytes = 1 << 20

  init(isJSON: Bool, _ names: ActorNames) {
    self.isJSON = isJSON
    self.names = names
  }

  /// The body of an error response.
  var body: [UInt8] { buffer.withLock { $0 } }

  func receive(_ status: Status, _ bytes: [UInt8]) {
    let lines = buffer.withLock { buffer in
      buffer += bytes
      guard status == .ok else { return [[UInt8]]() }
      var lines: [[UInt8]] = []
      while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        lines.append(Array(buffer[..<end]))
        buffer.removeFirst(end + 1)
      }
      if buffer.count > Self.maxEventBytes { buffer = [] }
      return lines
    }
    for line in lines where line.starts(with: Self.prefix) {
      // Standard output is closed.
      guard Self.print(Array(line.dropFirst(Self.prefix.count)), isJSON, names) else {
        exit(Terminal.exitStatus(Outcome.Status.success.rawValue))
      }
    }
  }

  private static let prefix = Array("data: ".utf8)

  /// - Returns: false if standard output is closed.
  static func print(_ json: [UInt8], _ isJSON: Bool, _ names: ActorNames) -> Bool {
    if isJSON { return Terminal.print(String(decoding: json, as: UTF8.self) + "\n") }
    do {
      return Terminal.print(try TailLine(json, userName: names.name).text + "\n")
    } catch {
      Terminal.log("Invalid event: \(error)")
      return true
    }
  }
}

/// Names of the users behind events. An event has the id only.
private final class ActorNames: Sendable {
  private let names = Mutex<[String: String]>([:])

  /// The maximum number of names; users beyond it appear by their id.
  private static let maxCount = 10_000

  @Sendable func name(of id: String) -> String? { names.withLock { $0[id] } }

  private func add(_ name: String?, of id: String) {
    names.withLock { names in
      if names.count < Self.maxCount { names[id] = name }
    }
  }

  /// Loads the name of an event's actor, once.
  func load(actorOf json: [UInt8], from client: Client) async {
    guard let id = TailLine.actor(of: json), name(of: id.description) == nil else { return }
    do throws(ClientFault) {
      let user = try await client.send(.getUser(.id(id))).value
      add(user.summary.name, of: id.description)
    } catch {
      // A user that is not visible, or no network: the line has the id.
      return
    }
  }

  /// Loads the names of all users of the site.
  func loadAll(from client: ControlClient) async throws {
    var next: String?
    var count = 0
    repeat {
      var page = try await client.response(.get, "/users?limit=200" + (next.map { "&next=\($0)" } ?? ""))
      for user in try page.value("data").array() {
        var user = try user.object()
        add(try user.optional("name"), of: try user.string("id"))
        count += 1
      }
      next = try page.optional("next")
    } while next != nil && count < Self.maxCount
  }
}

/// An event as a line of text.
struct TailLine {
  let text: String

  /// The user behind an event; nil for an event without one, or another text.
  static func actor(of json: [UInt8]) -> ID<User>? {
    do throws(JSONError) {
      var event = try JSONValue(parsing: json).object()
      let id: String? = try event.optional("actor_id")
      return id.flatMap { ID<User>($0) }
    } catch {
      return nil
    }
  }

  init(_ json: [UInt8], userName: (_ id: String) -> String? = { _ in nil }) throws(JSONError) {
    var event = try JSONValue(parsing: json).object()
    let name = try event.string("event")
    let at: String? = try event.optional("at")
    let stream: String? = try event.optional("stream")
    let actor: String? = try event.optional("actor_id")
    var message: String?
    if let data: JSONValue = try event.optional("data", { $0 }), data.kind == .object {
      var members = try data.object()
      if let value: JSONValue = try members.optional("text", { $0 }), value.kind == .string {
        message = try value.string()
      }
    }
    let parts = [
      at, stream, name, actor.map { "by \(userName($0).map(Terminal.plain) ?? $0)" },
      message.map { "\u{201c}\(Terminal.plain($0))\u{201d}" },
    ]
    text = parts.compactMap { $0 }.joined(separator: " ")
  }
}
