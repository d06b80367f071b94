// `parley migrate`: applies or lists the database migrations without starting the server.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage

extension Command {
  static let migrate = Command(
    "migrate", summary: "apply database migrations, or list them with --status",
    settings: [.status, .data, .config, .share], help: Help.migrate
  ) { arguments in MigrateCommand.run(arguments) }
}

enum MigrateCommand {
  static func run(_ arguments: [String]) -> Int32 {
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments.filter { $0 != "--status" }, environment: Terminal.environment)
      let data = settings.dataFolder
      let migrations = FileSystem.migrations(try FileSystem.share(settings.text(.share)))
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
