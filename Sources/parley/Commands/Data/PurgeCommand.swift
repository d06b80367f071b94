// `parley purge`: removes deleted content from the database file now, through the daemon that has locked the data
// folder, or itself when no daemon runs.

import ParleyNetworking
import Storage

extension Command {
  static let purge = Command(
    "purge", summary: "remove deleted content from the database file now", settings: [.json, .data, .config, .share],
    help: Help.purge, run: PurgeCommand.run)
}

enum PurgeCommand {
  static let path = "/purge"

  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    var isJSON = false
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "purge", [.json, .data, .config, .share])
      isJSON = settings.isOn(.json)
      outcome = try await purge(settings, bar)
    } catch {
      outcome = Outcome(.error, error.message)
    }
    bar.clear()
    return outcome.report(asJSON: isJSON)
  }

  private static func purge(_ settings: Settings, _ bar: ProgressBar) async throws(Settings.UsageError) -> Outcome {
    let data = settings.dataFolder
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    let folder: DataFolder
    do throws(DataFolder.Fault) { folder = try FileSystem.dataFolder(data) } catch {
      guard case .inUse = error else { throw Settings.UsageError(message: error.description) }
      return try await ControlClient(data: data).run(path, [], bar)
    }
    let migrations = FileSystem.migrations(try FileSystem.share(settings.text(.share)))
    do throws(StoreFault) {
      return try await purge(folder, migrations, bar)
    } catch {
      guard case .damaged = error else { throw Settings.UsageError(message: error.description) }
      return Outcome(.failure, error.description)
    }
  }

  /// Purges a data folder that is not in use. The checks come first, because opening a `Store` would create a missing
  /// database or migrate an old one.
  private static func purge(
    _ folder: DataFolder, _ migrations: String, _ bar: ProgressBar
  ) async throws(StoreFault) -> Outcome {
    guard FileSystem.exists(folder.database) else {
      return Outcome(.error, "\(folder.path) has no database, so there is nothing to purge.")
    }
    let steps = try Schema.status(ofDatabaseIn: folder.path, migrations: migrations)
    guard steps.allSatisfy({ $0.appliedAt != nil }) else {
      return Outcome(.error, "The database is older than this program. Run parley migrate first.")
    }
    let store = try Store(
      folder, migrations: migrations, clock: { Clock.wall() / 1_000_000 }, log: { Terminal.log($0) })
    let outcome = await Interruption.during { interruption in
      await purge(store) { progress in
        bar.show(progress)
        return !interruption.isRequested
      }
    }
    await store.close()
    return outcome
  }

  static func purge(_ store: Store, onProgress: @escaping Progress.Report) async -> Outcome {
    do throws(PurgeFault) {
      let report = try await store.purge { phase throws(PurgeFault) in
        guard onProgress(Progress(phase.label)) else { throw .cancelled }
      }
      return Outcome(.success, message(for: report, store.folder.path))
    } catch {
      return Outcome(.error, error.description)
    }
  }

  private static func message(for report: PurgeReport, _ data: String) -> String {
    """
    Purged deleted content from \(data). The rewritten database has \(Amount.bytes(report.sizeAfter)), \
    \(Amount.bytes(report.sizeBefore)) before. Expired and deleted: \(Amount.count(report.seals, "seal")) of removed \
    messages and \(Amount.count(report.copies, "copy", "copies")) in reports. Deleted with their messages: \
    \(Amount.count(report.files, "file")).
    Existing backups still contain the deleted content.\(copies(in: data))
    """
  }

  /// The copies of the site in its data folder.
  private static func copies(in data: String) -> String {
    let paths = DataFolder.copies(in: data)
    return paths.isEmpty ? "" : " In this data folder:\n" + paths.map { "  \($0)" }.joined(separator: "\n")
  }
}

extension PurgePhase {
  fileprivate var label: String {
    switch self {
    case .expiring: "deleting expired data"
    case .merging: "merging the search index"
    case .rewriting: "rewriting the database"
    case .truncatingLog: "truncating the write-ahead log"
    }
  }
}
