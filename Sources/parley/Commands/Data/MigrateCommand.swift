// `parley migrate`: applies, lists or tests the database migrations without starting the server.

import Glibc
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage

extension Command {
  static let migrate = Command(
    "migrate", summary: "apply database migrations, list them with --status, test them with --check",
    settings: [.status, MigrateCommand.check, .data, .config, .share], help: Help.migrate
  ) { arguments in await MigrateCommand.run(arguments) }
}

enum MigrateCommand {
  static let check = Setting(
    name: "check", value: nil, summary: "migrate and verify a copy of the database, without changes", isFlagOnly: true)

  static func run(_ arguments: [String]) async -> Int32 {
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments.filter { $0 != "--status" && $0 != check.flag }, environment: Terminal.environment)
      let data = settings.dataFolder
      let migrations = FileSystem.migrations(try FileSystem.share(settings.text(.share)))
      if arguments.contains(check.flag) { return try await test(data, migrations).report() }
      return arguments.contains("--status") ? try status(data, migrations) : try migrate(data, migrations)
    } catch {
      Terminal.log(error.message)
      return 2
    }
  }

  private static func status(_ data: String, _ migrations: String) throws(Settings.UsageError) -> Int32 {
    do throws(StoreFault) {
      let steps = try Schema.status(ofDatabaseIn: data, migrations: migrations)
      for step in steps {
        Terminal.print("\(step.file)  \(step.appliedAt.map { "applied \(Timestamp.format($0))" } ?? "missing")\n")
      }
      return steps.allSatisfy { $0.appliedAt != nil } ? 0 : 1
    } catch {
      throw Settings.UsageError(message: error.description)
    }
  }

  /// The server may run. Root acts as the owner of the folder, so that the copy is never in the way of the server.
  private static func test(_ data: String, _ migrations: String) async throws(Settings.UsageError) -> Outcome {
    try FileSystem.actAsOwner(of: data)
    umask(0o077)
    let bar = ProgressBar.onTerminal
    let outcome = await Interruption.during { interruption in
      let test = MigrationTest(data: data, migrations: migrations, at: Clock.wall() / 1_000_000) {
        progress throws(BackupFault) in
        if interruption.isRequested { throw .cancelled }
        bar?.show(Progress(progress))
      }
      do throws(BackupFault) {
        let report = try test.run()
        return Outcome(
          .success,
          "The database is sound after \(Amount.count(report.applied.count, "migration")), with "
            + "\(Amount.count(report.messages, "message")).")
      } catch .damaged(let faults) {
        return Outcome(.failure, "The database would be damaged: \(faults.prefix(5).joined(separator: "; ")).")
      } catch .cancelled {
        return Outcome(.error, "The test was cancelled. Nothing was changed.")
      } catch {
        return Outcome(.failure, error.description)
      }
    }
    bar?.clear()
    return outcome
  }

  private static func migrate(_ data: String, _ migrations: String) throws(Settings.UsageError) -> Int32 {
    try FileSystem.makeFolder(data)
    let folder = try FileSystem.lock(data)
    do throws(StoreFault) {
      let applied = try Schema.migrate(folder, migrations: migrations, at: Clock.wall() / 1_000_000)
      for file in applied { Terminal.print("applied \(file)\n") }
      if applied.isEmpty {
        Terminal.print("The database is up to date.\n")
      } else if let notice = Schema.previousDatabaseNotice(folder) {
        Terminal.print("\(notice)\n")
      }
      return 0
    } catch {
      throw Settings.UsageError(message: error.description)
    }
  }
}
