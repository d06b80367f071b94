// `parley purge`: what was deleted leaves the files now, through the daemon that has the data folder, or by itself.

import ParleyNetworking
import Storage

enum PurgeCommand {
  static let path = "/purge"

  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    do throws(Settings.Mistake) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "purge", [.data, .share])
      outcome = try await purge(settings, bar)
    } catch {
      outcome = Outcome(.impossible, error.sentence)
    }
    bar.clear()
    return outcome.tell()
  }

  private static func purge(_ settings: Settings, _ bar: ProgressBar) async throws(Settings.Mistake) -> Outcome {
    let data = settings.text(.data) ?? "./data"
    guard Folder.exists(data) else { throw Settings.Mistake(sentence: "There is no folder \(data). --data names it.") }
    let folder: DataFolder
    do throws(DataFolder.Fault) { folder = try DataFolder(data) } catch {
      guard case .inUse = error else { throw Settings.Mistake(sentence: error.description) }
      return try await ControlClient(data: data).ask(path, [], bar)
    }
    let migrations = Folder.migrations(try Folder.share(settings.text(.share)))
    do throws(StoreFault) {
      return try await purge(folder, migrations, bar)
    } catch {
      guard case .damaged = error else { throw Settings.Mistake(sentence: error.description) }
      return Outcome(.wrong, error.description)
    }
  }

  /// Of a folder at rest. Opening a store would make a database, or bring it up to date, which nobody has asked for.
  private static func purge(
    _ folder: DataFolder, _ migrations: String, _ bar: ProgressBar
  ) async throws(StoreFault) -> Outcome {
    guard Folder.exists(folder.database) else {
      return Outcome(.impossible, "There is no database in \(folder.path), so there is nothing to purge.")
    }
    let steps = try Schema.status(ofDatabaseIn: folder.path, migrations: migrations)
    guard steps.allSatisfy({ $0.appliedAt != nil }) else {
      return Outcome(.impossible, "The database is older than this program. parley migrate brings it up to date.")
    }
    let store = try Store(
      folder, migrations: migrations, clock: { Clock.wall() / 1_000_000 }, complain: { Terminal.complain($0) })
    let outcome = await Interruption.during { interruption in
      await purge(store) { progress in
        bar.show(progress)
        return !interruption.hasCome
      }
    }
    await store.close()
    return outcome
  }

  static func purge(_ store: Store, report: @escaping Progress.Report) async -> Outcome {
    do throws(PurgeFault) {
      let done = try await store.purge { phase throws(PurgeFault) in
        guard report(Progress(phase.words)) else { throw .stopped }
      }
      return Outcome(.well, sentence(of: done, store.folder.path))
    } catch {
      return Outcome(.impossible, error.description)
    }
  }

  private static func sentence(of done: PurgeReport, _ data: String) -> String {
    """
    What was deleted in \(data) has left its database, which was written anew: \(Amount.bytes(done.sizeAfter)), \
    \(Amount.bytes(done.sizeBefore)) before. \(Amount.count(done.seals, "seal")) of removed messages and \
    \(Amount.count(done.copies, "copy", "copies")) in reports had expired, and went first.
    Backups keep what they held when they were made.
    """
  }
}

extension PurgePhase {
  fileprivate var words: String {
    switch self {
    case .expiring: "taking what has expired"
    case .merging: "merging the index"
    case .rewriting: "writing it anew"
    case .emptyingLog: "emptying the log"
    }
  }
}
