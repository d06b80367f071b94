// Routes of the control socket: operations that write the database or exclude other writers. The caller is the owner of
// the data folder and has every right.

import API
import ParleyJSON
import ParleyWire
import Storage
import Web

enum ControlRoutes {
  /// - Parameter origin: prefix of the links that the responses contain.
  static func make(
    _ api: API, _ origin: String, status: StatusReporter? = nil, doctor: DoctorReporter? = nil,
    log: @escaping @Sendable (String) -> Void
  ) -> Application {
    let store = api.community.store
    let router = Router { routes in
      api.addControlEndpoints(to: &routes)
      if let status {
        routes.on(.get, StatusCommand.path) { _, _ throws(Problem) in try await status.response() }
      }
      if let doctor {
        routes.on(.post, DoctorCommand.path) { _, _ throws(Problem) in try await doctor.response() }
      }
      routes.on(.get, RunningProgram.path) { _, _ throws(Problem) in RunningProgram.response(store) }
      routes.on(.post, BackupCommand.path) { request, _ throws(Problem) in
        let (file, isStream) = try await BackupCommand.target(request)
        return stream { onProgress in
          await BackupCommand.create(file, isStream: isStream, of: store, onProgress: onProgress)
        }
      }
      routes.on(.post, ImportCommand.path) { request, _ throws(Problem) in
        let options = try await ImportCommand.options(request)
        return stream { onProgress in
          await ImportCommand.perform(options, in: api.community, onProgress: onProgress)
        }
      }
      routes.on(.post, DestroyCommand.backupsPath) { _, _ in
        stream { onProgress in await DestroyCommand.replaceBackups(of: store, onProgress: onProgress) }
      }
      routes.on(.post, PurgeCommand.path) { _, _ in
        stream { onProgress in await PurgeCommand.purge(store, onProgress: onProgress) }
      }
    }
    var limits = Limits()
    limits.connections = 16
    let addresses = Addresses(publicOrigins: WebAddress(origin: origin).map { [$0] } ?? [])
    return Application(router: router, limits: limits, addresses: addresses, log: log)
  }

  /// Runs a long operation and streams a line per progress report, then its outcome. A disconnect cancels the
  /// operation.
  private static func stream(
    _ work: @escaping @Sendable (_ onProgress: @escaping Progress.Report) async -> Outcome
  ) -> Response {
    Response(
      .ok, fields: ["Content-Type": "application/jsonl"],
      body: .stream(length: nil) { writer in
        // A slow reader loses progress lines, never the outcome, which is the newest line.
        let (lines, feed) = AsyncStream.makeStream(of: ControlLine.self, bufferingPolicy: .bufferingNewest(4))
        let task = Task {
          let outcome = await work { progress in
            if case .terminated = feed.yield(.progress(progress)) { return false }
            return true
          }
          feed.yield(.outcome(outcome))
          feed.finish()
        }
        defer { task.cancel() }
        for await line in lines { try await writer.write(line.bytes) }
      })
  }
}
