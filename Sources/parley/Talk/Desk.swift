// Commands of people at a place, anywhere: they speak to a server as an app does, through ParleyKit. Who is signed in where is
// kept in one small file that only its owner can read.

import Glibc
import ParleyJSON
import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyTransport
import Synchronization

/// Somebody signed in at a place.
final class Desk: Sendable {
  let client: Client
  /// What is kept of the place, and waits to be sent, stands beside the profile, for its owner alone.
  private let copy: String
  private let opened: Mutex<Parley?> = Mutex(nil)

  /// What the file keeps.
  struct Profile: JSONReadable {
    var server: String
    var token: String
    var fingerprint: String?
    /// Whose copy lies beside it.
    var person: String?

    init(server: String, token: String, fingerprint: String?, person: String) {
      self.server = server
      self.token = token
      self.fingerprint = fingerprint
      self.person = person
    }

    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      server = try object.string("server")
      token = try object.string("token")
      fingerprint = try object.optional("fingerprint")
      person = try object.optional("person")
    }

    var bytes: [UInt8] {
      var json = JSONWriter()
      json.object { json in
        json.field("server", server)
        json.field("token", token)
        if let fingerprint { json.field("fingerprint", fingerprint) }
        if let person { json.field("person", person) }
      }
      return json.bytes + [10]
    }
  }

  static let profile = Setting(
    name: "profile", value: "FILE", meaning: "who is signed in where, if not in .config/parley/profile.json at home")

  static func path(_ settings: Settings) throws(Settings.Mistake) -> String {
    if let path = settings.text(profile) { return path }
    let environment = Terminal.environment
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + "/parley/profile.json" }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw Settings.Mistake(sentence: "Nobody is at home: HOME is not set. --profile names a file.")
    }
    return home + "/.config/parley/profile.json"
  }

  static func client(
    _ server: String, token: String?, fingerprint: String?
  ) throws(Settings.Mistake) -> Client {
    guard let address = ServerAddress(server) else {
      throw Settings.Mistake(sentence: "\"\(server)\" is no server's address, such as https://chat.example.")
    }
    var trust = Trust.system
    if let fingerprint {
      guard let pinned = Trust(fingerprint: fingerprint) else {
        throw Settings.Mistake(sentence: "A fingerprint has 64 hexadecimal digits.")
      }
      trust = pinned
    }
    do {
      return Client(address, over: try NetworkTransport(trust: trust), token: token)
    } catch {
      throw Settings.Mistake(sentence: "\(error)")
    }
  }

  static func isSignedIn(_ settings: Settings) throws(Settings.Mistake) -> Bool { Folder.exists(try path(settings)) }

  /// Of whoever is signed in.
  convenience init(_ settings: Settings) throws(Settings.Mistake) {
    let path = try Self.path(settings)
    guard Folder.exists(path) else {
      throw Settings.Mistake(sentence: "Nobody is signed in. parley login SERVER NAME does it.")
    }
    guard let profile = try Self.read(path) else {
      throw Settings.Mistake(sentence: "\(path) is no profile. parley login SERVER NAME writes it anew.")
    }
    try self.init(profile, at: path)
  }

  private init(_ profile: Profile, at path: String) throws(Settings.Mistake) {
    client = try Self.client(profile.server, token: profile.token, fingerprint: profile.fingerprint)
    copy = path + ".cache"
  }

  private static func read(_ path: String) throws(Settings.Mistake) -> Profile? {
    let bytes = try Folder.read(path)
    do throws(JSONError) { return try Profile(json: JSONValue(parsing: bytes)) } catch { return nil }
  }

  // MARK: What is kept

  /// The copy, where there is one.
  var parley: Parley? {
    get throws(CacheFault) { Folder.exists(copy) ? try openCopy() : nil }
  }

  /// What is sent by it is tried once: what waits is tried again by the next command.
  func openCopy() throws(CacheFault) -> Parley {
    try opened.withLock { opened throws(CacheFault) in
      if let parley = opened { return parley }
      umask(0o077)
      let path = copy
      let parley = try Parley(
        Client(client.server, over: client.transport, token: client.token, retrying: .never),
        clock: Outbox.Clock(now: { Clock.wall() / 1_000_000 }), open: { file in try Folder.source(file.path) }
      ) { try DiskStore(path, patience: .seconds(30)) }
      opened = parley
      return parley
    }
  }

  func forgetCopy() throws(Settings.Mistake) {
    opened.withLock { $0 = nil }
    for end in ["", "-wal", "-shm", "-journal"] { try Folder.remove(copy + end) }
  }

  /// A sentence where something waits to be sent.
  var unsent: String? {
    get async throws {
      let count = try await parley?.outbox.list().count ?? 0
      return count == 0 ? nil : count == 1 ? "One thing was not sent yet." : "\(count) things were not sent yet."
    }
  }

  /// Nothing of one person's is left for another. What is not sent yet is not let go, unless that is asked for.
  /// - Returns: a sentence where something waits.
  static func makeRoom(
    for profile: Profile, at path: String, isForced: Bool
  ) async throws -> String? {
    let before = Folder.exists(path) ? try read(path) : nil
    if let before, before.person == profile.person, before.server == profile.server { return nil }
    let desk = try Desk(profile, at: path)
    if !isForced, let unsent = try await desk.unsent { return unsent }
    try desk.forgetCopy()
    return nil
  }

  /// What could not be sent before goes now.
  func sendWaiting() async {
    do {
      guard let parley = try parley else { return }
      Self.report(try await parley.outbox.sendWaiting())
    } catch let fault as CacheFault {
      Terminal.complain(fault.sentence)
    } catch {
      Terminal.complain("\(error)")
    }
  }

  /// Says what went that somebody asked for earlier.
  static func report(_ round: OutboxRound, but name: OutboxOperation.Name? = nil) {
    let sent = round.sent.count { $0.operation.id != name }
    if sent > 0 { Terminal.complain(sent == 1 ? "One thing that waited was sent." : "\(sent) that waited were sent.") }
    for operation in round.failed where operation.id != name {
      Terminal.complain("\(operation.id) was refused: \(operation.failure?.sentence ?? "") parley outbox lists it.")
    }
  }

  // MARK: Places and people

  /// The same from the copy, where the server can't be asked.
  func conversation(_ text: String, _ parley: Parley) async throws -> ID<Conversation> {
    do {
      return try await conversation(text, by: parley.client)
    } catch let fault as ClientFault where fault.isTemporary {
      guard let place = await held(text, parley) else { throw fault }
      return place
    }
  }

  func held(_ text: String, _ parley: Parley) async -> ID<Conversation>? {
    if let id = ID<Conversation>(text) { return id }
    let forums = await parley.cache.replica.forums.values.map(\.forum)
    if let forum = forums.first(where: { $0.title.lowercased() == text.lowercased() }) { return forum.room }
    let own = (try? await parley.cache.ownConversations()) ?? []
    return own.first { $0.title.lowercased() == text.lowercased() }?.conversation.id
  }

  /// A conversation by its id, by the title of a forum, whose room it is, or by its own. Titles of forums are unique; of
  /// conversations of one title the last active is meant.
  func conversation(_ text: String, by client: Client? = nil) async throws -> ID<Conversation> {
    if let id = ID<Conversation>(text) { return id }
    let client = client ?? self.client
    let request = Request<Page<Resource<SeenForum>>>.forums(query: text)
    let found = try await client.send(request).elements.filter { $0.forum.title.lowercased() == text.lowercased() }
    if let forum = found.first { return forum.forum.room }
    for try await page in client.pages(of: .conversations(limit: 200)) {
      let own = page.elements.first { $0.conversation.title?.lowercased() == text.lowercased() }
      if let own { return own.conversation.id }
    }
    throw Settings.Mistake(
      sentence: "There is no forum and no conversation \"\(text)\" to be seen. parley forums lists the first.")
  }

  /// Names of people, each asked for once.
  func names(of people: Set<ID<Account>>) async throws -> [ID<Account>: String] {
    var names: [ID<Account>: String] = [:]
    for id in people {
      do throws(ClientFault) {
        names[id] = try await client.send(.person(.id(id))).account.name
      } catch {
        guard case .refused = error else { throw error }
      }
    }
    return names
  }
}
