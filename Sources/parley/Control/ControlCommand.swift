// Commands that administer the site. Each is one request to the control socket of the daemon. When no daemon runs, the
// command serves that socket itself until it ends, so each operation has one implementation: the API's endpoints for
// the operator.

import API
import Community
import ParleyJSON
import ParleyKit
import ParleyNetworking
import ParleyWire
import Storage

extension Command {
  /// Declares a command that sends requests to the control socket. With `--json` it prints the last response, unless it
  /// prints JSON by itself.
  ///
  /// - Parameter isRemote: whether `--remote` sends them to the server of `parley login`.
  static func control(
    _ name: String, operands: [String] = [], summary: String, settings: [Setting] = [],
    operations: [String] = [], isRemote: Bool = false, help: @autoclosure @escaping @Sendable () -> String,
    run body: @escaping @Sendable (Settings, ControlClient) async throws -> Outcome
  ) -> Command {
    let printsResponse = !settings.contains { $0.name == Setting.json.name }
    let own = settings + (printsResponse ? [.json] : []) + (isRemote ? Setting.ofRemote : [])
    return Command(
      name, operands: operands, summary: summary, settings: own + [.data, .config, .share], operations: operations,
      help: help() + (printsResponse ? Help.jsonResponse : "") + (isRemote ? Help.remote : "")
    ) { arguments in
      do {
        let settings = try Settings(
          arguments: arguments, environment: Terminal.environment, of: name, own + Setting.all, operands: operands)
        let work: (ControlClient) async throws -> Outcome = { client in
          let outcome = try await body(settings, client)
          guard printsResponse, settings.isOn(.json), outcome.status == .success else { return outcome }
          return ClientOutput.lines([client.lastResponse])
        }
        if isRemote, settings.isOn(.remote) {
          return try await work(ControlClient(session: try CLISession(settings))).report()
        }
        return try await withClient(settings, work).report()
      } catch {
        return Outcome(error).report()
      }
    }
  }

  /// Runs `work` with the daemon of the data folder, or with a control socket of this process.
  static func withClient(
    _ settings: Settings, _ work: (ControlClient) async throws -> Outcome
  ) async throws -> Outcome {
    let data = settings.dataFolder
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    let folder: DataFolder
    do throws(DataFolder.Fault) {
      folder = try FileSystem.dataFolder(data)
    } catch {
      guard case .inUse = error else { throw Settings.UsageError(message: error.description) }
      return try await work(ControlClient(data: data))
    }
    return try await withServer(folder, settings) { try await work(ControlClient(data: data)) }
  }

  /// Opens the store and serves the control socket until `work` returns.
  private static func withServer(
    _ folder: DataFolder, _ settings: Settings, _ work: () async throws -> Outcome
  ) async throws -> Outcome {
    let origin = try PublicOrigin.text(settings)
    let migrations = FileSystem.migrations(try FileSystem.share(settings.text(.share)))
    let store = try ServeCommand.openStore(folder, migrations, Terminal.log)
    let outcome: Result<Outcome, any Error>
    do {
      let server = try await ControlServer(
        API(
          Community(store, publisher: API.publisher()), outgoing: .checking(Invocation.outgoingPolicy),
          commands: .unreachable), origin,
        in: folder.path, log: Terminal.log)
      do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
      await server.stop()
    } catch {
      outcome = .failure(error)
    }
    await store.close()
    return try outcome.get()
  }
}

/// An error response to a request.
struct RefusedRequest: Error {
  let message: String

  /// Decodes problem details (RFC 9457).
  init(_ status: Status, _ body: [UInt8]) {
    do {
      var object = try JSONValue(parsing: body).object()
      let code = try object.string("code")
      let faults: [Problem.FieldError] = try object.optional("errors") ?? []
      let title = try object.string("title")
      let detail: String? = try object.optional("detail")
      let fault = faults.first.map { Self.message($0) + (detail.map { " \($0)" } ?? "") }
      message = fault ?? Self.messages[code] ?? title
    } catch {
      message = "The daemon answered \(status.code) \(status.reason). It may be another version."
    }
  }

  private static let messages = [
    "not_found": "No user, message, topic or file has this name or id.",
    "conflict": "The state of the user does not allow this.",
    "gone": "The site already has an owner.",
    "last_owner": "The site needs an owner. Make another user an owner first, or run parley setup if there is none.",
    "unavailable": "The server is unavailable. Try again later.",
    "disk_full": "The disk of the server is full. Make room on it and try again.",
    "database_damaged": "The database is damaged, and the server refuses all changes. See its log.",
  ]

  private static func message(_ fault: Problem.FieldError) -> String {
    "The \(fault.field.replacing("_", with: " ")) \(fault.userMessage)."
  }
}
