// Commands of people at a place, anywhere: they speak to a server as an app does, through ParleyKit. Who is signed in where is
// kept in one small file that only its owner can read.

import Glibc
import JSON
import Model
import ParleyKit
import ParleyTransport

/// Somebody signed in at a place.
struct Desk: Sendable {
  let client: Client

  /// What the file keeps.
  struct Profile: JSONReadable {
    var server: String
    var token: String
    var fingerprint: String?

    init(server: String, token: String, fingerprint: String?) {
      self.server = server
      self.token = token
      self.fingerprint = fingerprint
    }

    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      server = try object.string("server")
      token = try object.string("token")
      fingerprint = try object.optional("fingerprint")
    }

    var bytes: [UInt8] {
      var json = JSONWriter()
      json.object { json in
        json.field("server", server)
        json.field("token", token)
        if let fingerprint { json.field("fingerprint", fingerprint) }
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

  /// Of whoever is signed in.
  init(_ settings: Settings) throws(Settings.Mistake) {
    let path = try Self.path(settings)
    guard Folder.exists(path) else {
      throw Settings.Mistake(sentence: "Nobody is signed in. parley login SERVER NAME does it.")
    }
    let profile: Profile
    let bytes = try Folder.read(path)
    do throws(JSONError) { profile = try Profile(json: JSONValue(parsing: bytes)) } catch {
      throw Settings.Mistake(sentence: "\(path) is no profile. parley login SERVER NAME writes it anew.")
    }
    client = try Self.client(profile.server, token: profile.token, fingerprint: profile.fingerprint)
  }

  /// A conversation by its id, or by the title of a forum: its room.
  func conversation(_ text: String) async throws -> ID<Conversation> {
    if let id = ID<Conversation>(text) { return id }
    let request = Request<Page<Resource<SeenForum>>>.forums(query: text)
    let found = try await client.send(request).elements.filter { $0.forum.title.lowercased() == text.lowercased() }
    guard let forum = found.first else { throw Settings.Mistake(sentence: "There is no forum \"\(text)\" to be seen.") }
    return forum.forum.room
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
