// Commands about the people of the place. Each is one request to the control socket: of the daemon that has the data
// folder, or, where that is at rest, of one that answers there for as long as the command lasts. So there is one
// implementation of each, in the API's endpoints for the host.

import API
import Community
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage

struct HostCommand: Sendable {
  /// What comes after `parley`, such as `user add`.
  let name: String
  var operands: [String] = []
  var settings: [Setting] = []
  /// Asks, and says how it went.
  let run: @Sendable (Settings, ControlClient) async throws -> Outcome

  func run(_ arguments: [String]) async -> Int32 {
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: name, self.settings + Setting.all,
        operands: operands)
      return try await Self.withClient(settings) { client in try await run(settings, client) }.tell()
    } catch let mistake as Settings.Mistake {
      return Outcome(.impossible, mistake.sentence).tell()
    } catch let refused as Refused {
      return Outcome(.wrong, refused.sentence).tell()
    } catch {
      return Outcome(.impossible, "\(error)").tell()
    }
  }

  private static func withClient(
    _ settings: Settings, _ work: (ControlClient) async throws -> Outcome
  ) async throws -> Outcome {
    let data = settings.text(.data) ?? "./data"
    guard Folder.exists(data) else { throw Settings.Mistake(sentence: "There is no folder \(data). --data names it.") }
    let folder: DataFolder
    do throws(DataFolder.Fault) {
      folder = try DataFolder(data)
    } catch {
      guard case .inUse = error else { throw Settings.Mistake(sentence: error.description) }
      return try await work(ControlClient(data: data))
    }
    return try await atRest(folder, settings) { try await work(ControlClient(data: data)) }
  }

  /// Opens the place and answers at its control socket, as the daemon would, until the work is done.
  private static func atRest(
    _ folder: DataFolder, _ settings: Settings, _ work: () async throws -> Outcome
  ) async throws -> Outcome {
    let origin = try HostOrigin.text(settings)
    let migrations = Folder.migrations(try Folder.share(settings.text(.share)))
    let store = try ServeCommand.openStore(folder, migrations, Terminal.complain)
    let outcome: Result<Outcome, any Error>
    do {
      let server = try await ControlServer(
        API(Community(store, publisher: API.publisher())), origin, in: folder.path, complain: Terminal.complain)
      do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
      await server.stop()
    } catch {
      outcome = .failure(error)
    }
    await store.close()
    return try outcome.get()
  }
}

/// What the place said no to.
struct Refused: Error {
  let sentence: String

  /// Reads what RFC 9457 has.
  init(_ status: Status, _ body: [UInt8]) {
    do {
      var object = try JSONValue(parsing: body).object()
      let code = try object.string("code")
      let faults: [Fault] = try object.optional("errors") ?? []
      let title = try object.string("title")
      sentence = faults.first?.sentence ?? Self.sentences[code] ?? title
    } catch {
      sentence = "The daemon, of another version it seems, answers \(status.code) \(status.reason)."
    }
  }

  private static let sentences = [
    "not_found": "There is nobody of that name.",
    "conflict": "They stand in another way with the place than this needs.",
    "gone": "The place has an owner already.",
    "last_owner": "The place needs an owner: parley setup tells how the first one comes in.",
    "unavailable": "The place can't take this in now. Try again in a moment.",
  ]

  private struct Fault: JSONReadable {
    let sentence: String

    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      let field = try object.string("field").replacing("_", with: " ")
      let code = try object.string("code")
      sentence = "The \(field) \(Self.words[code] ?? "can't be used")."
    }

    private static let words = [
      "missing": "is missing", "taken": "is taken", "too_short": "is too short", "too_long": "is too long",
      "unknown": "is not known here", "out_of_range": "is out of range",
    ]
  }
}
