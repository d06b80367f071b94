// What commands may ask of the running daemon, over the control socket: whatever writes the database, or must not be done
// while somebody else writes it. Who can ask is the owner of the data folder, and may do everything.

import API
import ParleyJSON
import ParleyWire
import Storage
import Web

enum ControlSite {
  /// `origin` begins the links that people get.
  static func make(_ api: API, _ origin: String, complain: @escaping @Sendable (String) -> Void) -> Site {
    let store = api.community.store
    let router = Router { routes in
      api.addForHost(to: &routes)
      routes.on(.post, BackupCommand.path) { request, _ throws(Problem) in
        let file = try await BackupCommand.file(request)
        return answer { report in await BackupCommand.make(file, of: store, report: report) }
      }
      routes.on(.post, PurgeCommand.path) { _, _ in
        answer { report in await PurgeCommand.purge(store, report: report) }
      }
    }
    var limits = Limits()
    limits.connections = 16
    let addresses = Addresses(publicOrigins: WebAddress(origin: origin).map { [$0] } ?? [])
    return Site(router: router, limits: limits, addresses: addresses, complain: complain)
  }

  /// Does something long: lines of progress while it lasts, and how it went as the last one. When the one who asked is
  /// gone it is ended.
  private static func answer(
    _ work: @escaping @Sendable (_ report: @escaping Progress.Report) async -> Outcome
  ) -> Response {
    Response(
      .ok, fields: ["Content-Type": "application/jsonl"],
      body: .stream(length: nil) { writer in
        // What is slow to be taken is left out; the outcome is the newest, and stays.
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
