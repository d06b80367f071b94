import Glibc
import ParleyJSON
import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyTransport
import Synchronization

/// The signed-in user of client commands: the profile file, the ParleyKit client and the local cache.
///
/// The profile holds the session token. Only its owner can read it, and the cache beside it.
final class CLISession: Sendable {
  let client: Client
  /// The path of the local cache and outbox.
  private let cachePath: String
  private let opened: Mutex<Parley?> = Mutex(nil)

  /// The content of the profile file.
  struct Profile: JSONReadable {
    var server: String
    var token: String
    var fingerprint: String?
    /// The user of the local cache.
    var user: String?

    init(server: String, token: String, fingerprint: String?, user: String) {
      self.server = server
      self.token = token
      self.fingerprint = fingerprint
      self.user = user
    }

    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      server = try object.string("server")
      token = try object.string("token")
      fingerprint = try object.optional("fingerprint")
      user = try object.optional("user")
    }

    var bytes: [UInt8] {
      var json = JSONWriter()
      json.object { json in
        json.field("server", server)
        json.field("token", token)
        if let fingerprint { json.field("fingerprint", fingerprint) }
        if let user { json.field("user", user) }
      }
      return json.bytes + [10]
    }
  }

  static let profile = Setting(
    name: "profile", value: "FILE", summary: "profile file, instead of ~/.config/parley/profile.json")

  static func path(_ settings: Settings) throws(Settings.UsageError) -> String {
    if let path = settings.text(profile) { return path }
    let environment = Terminal.environment
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + "/parley/profile.json" }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw Settings.UsageError(message: "HOME is not set. Set the profile file with --profile.")
    }
    return home + "/.config/parley/profile.json"
  }

  static func client(
    _ server: String, token: String?, fingerprint: String?
  ) throws(Settings.UsageError) -> Client {
    guard let address = ServerAddress(server) else {
      throw Settings.UsageError(message: "\"\(server)\" is not a server address such as https://chat.example.")
    }
    var trust = Trust.system
    if let fingerprint {
      guard let pinned = Trust(fingerprint: fingerprint) else {
        throw Settings.UsageError(message: "The fingerprint must have 64 hexadecimal digits.")
      }
      trust = pinned
    }
    do {
      return Client(address, over: try NetworkTransport(trust: trust), token: token)
    } catch {
      throw Settings.UsageError(message: "\(error)")
    }
  }

  static func isSignedIn(_ settings: Settings) throws(Settings.UsageError) -> Bool {
    FileSystem.exists(try path(settings))
  }

  /// Loads the profile.
  convenience init(_ settings: Settings) throws(Settings.UsageError) {
    let path = try Self.path(settings)
    guard FileSystem.exists(path) else {
      throw Settings.UsageError(message: "Not signed in. Use parley login SERVER NAME.")
    }
    guard let profile = try Self.read(path) else {
      throw Settings.UsageError(message: "\(path) is not a valid profile. Sign in again with parley login SERVER NAME.")
    }
    try self.init(profile, at: path)
  }

  private init(_ profile: Profile, at path: String) throws(Settings.UsageError) {
    client = try Self.client(profile.server, token: profile.token, fingerprint: profile.fingerprint)
    cachePath = path + ".cache"
  }

  private static func read(_ path: String) throws(Settings.UsageError) -> Profile? {
    let bytes = try FileSystem.read(path)
    do throws(JSONError) { return try Profile(json: JSONValue(parsing: bytes)) } catch { return nil }
  }

  // MARK: The local cache

  /// Nil if there is no cache.
  var parley: Parley? {
    get throws(CacheFault) { FileSystem.exists(cachePath) ? try openCache() : nil }
  }

  /// Opens or creates the cache. Requests are not retried: the next command retries the outbox.
  func openCache() throws(CacheFault) -> Parley {
    try opened.withLock { opened throws(CacheFault) in
      if let parley = opened { return parley }
      umask(0o077)
      let path = cachePath
      let parley = try Parley(
        Client(client.server, over: client.transport, token: client.token, retryPolicy: .never),
        clock: Outbox.Clock(now: { Clock.wall() / 1_000_000 }), open: { file in try FileSystem.source(file.path) }
      ) { try DiskStore(path, patience: .seconds(30)) }
      opened = parley
      return parley
    }
  }

  func deleteCache() throws(Settings.UsageError) {
    opened.withLock { $0 = nil }
    for suffix in ["", "-wal", "-shm", "-journal"] { try FileSystem.remove(cachePath + suffix) }
  }

  /// A message if the outbox is not empty.
  var unsent: String? {
    get async throws {
      let count = try await parley?.outbox.list().count ?? 0
      return count == 0 ? nil : count == 1 ? "One operation is unsent." : "\(count) operations are unsent."
    }
  }

  /// Deletes the cache of a previous user, unless it has unsent operations and `force` is false.
  /// - Returns: a message if there are unsent operations.
  static func deleteCache(
    before profile: Profile, at path: String, force: Bool
  ) async throws -> String? {
    let previous = FileSystem.exists(path) ? try read(path) : nil
    if let previous, previous.user == profile.user, previous.server == profile.server { return nil }
    let session = try CLISession(profile, at: path)
    if !force, let unsent = try await session.unsent { return unsent }
    try session.deleteCache()
    return nil
  }

  /// Sends the outbox and logs faults.
  func sendOutbox() async {
    do {
      guard let parley = try parley else { return }
      Self.log(try await parley.outbox.sendWaiting())
    } catch {
      Terminal.log(error.userMessage)
    }
  }

  /// Logs the sent and failed operations of earlier commands.
  static func log(_ round: OutboxRound, except name: OutboxOperation.Name? = nil) {
    let sent = round.sent.count { $0.operation.id != name }
    if sent > 0 { Terminal.log(sent == 1 ? "Sent 1 queued operation." : "Sent \(sent) queued operations.") }
    for operation in round.failed where operation.id != name {
      Terminal.log("\(operation.id) failed: \(operation.failure?.userMessage ?? "") See parley outbox.")
    }
  }

  // MARK: Conversations and users

  /// Resolves a conversation through the server, or through the cache when offline.
  func conversation(_ text: String, _ parley: Parley) async throws -> ID<Conversation> {
    do {
      return try await conversation(text, by: parley.client)
    } catch let fault as ClientFault where fault.isTemporary {
      guard let id = await cachedConversation(text, parley) else { throw fault }
      return id
    }
  }

  func cachedConversation(_ text: String, _ parley: Parley) async -> ID<Conversation>? {
    if let id = ID<Conversation>(text) { return id }
    let forums = await parley.cache.replica.forums.values.map(\.forum)
    if let forum = forums.first(where: { $0.title.lowercased() == text.lowercased() }) { return forum.room }
    let own = (try? await parley.cache.ownConversations()) ?? []
    if let name = Self.userName(text) {
      return own.first { $0.conversation.kind == .direct && $0.others.contains { $0.summary.name == name } }?
        .conversation.id
    }
    return own.first { $0.title.lowercased() == text.lowercased() }?.conversation.id
  }

  /// Resolves an id, the title of a forum (its room), the title of a conversation, or `@name` (the direct conversation
  /// with that user). Forum titles are unique; among conversations with the same title the last active one wins.
  func conversation(_ text: String, by client: Client? = nil) async throws -> ID<Conversation> {
    if let id = ID<Conversation>(text) { return id }
    let client = client ?? self.client
    if let name = Self.userName(text) { return try await direct(with: name, by: client) }
    if let forum = try await forum(titled: text, by: client) { return forum.room }
    for try await page in client.pages(of: .listConversations(limit: 200)) {
      let own = page.elements.first { $0.conversation.title?.lowercased() == text.lowercased() }
      if let own { return own.conversation.id }
    }
    throw await unknownTitle(text, "forum or conversation")
  }
}
