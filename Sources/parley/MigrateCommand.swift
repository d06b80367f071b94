// `parley migrate`: the database's steps, for a host who wants to take or see them apart from the start of the server.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage

enum MigrateCommand {
  static func run(_ arguments: [String]) -> Int32 {
    do throws(Settings.Mistake) {
      let settings = try Settings(
        arguments: arguments.filter { $0 != "--status" }, environment: Terminal.environment)
      let data = settings.text(.data) ?? "./data"
      let migrations = Folder.migrations(try Folder.share(settings.text(.share)))
      return arguments.contains("--status") ? try status(data, migrations) : try migrate(data, migrations)
    } catch {
      Terminal.complain(error.sentence)
      return 2
    }
  }

  private static func status(_ data: String, _ migrations: String) throws(Settings.Mistake) -> Int32 {
    do throws(StoreFault) {
      let steps = try Schema.status(ofDatabaseIn: data, migrations: migrations)
      for step in steps {
        Terminal.print("\(step.file)  \(step.appliedAt.map { "applied \(Timestamp.format($0))" } ?? "missing")\n")
      }
      return steps.allSatisfy { $0.appliedAt != nil } ? 0 : 1
    } catch {
      throw Settings.Mistake(sentence: error.description)
    }
  }

  private static func migrate(_ data: String, _ migrations: String) throws(Settings.Mistake) -> Int32 {
    try Folder.make(data)
    let folder = try Folder.lock(data)
    do throws(StoreFault) {
      let applied = try Schema.migrate(folder, migrations: migrations, at: Clock.wall() / 1_000_000)
      for file in applied { Terminal.print("applied \(file)\n") }
      if applied.isEmpty { Terminal.print("Nothing is missing.\n") }
      return 0
    } catch {
      throw Settings.Mistake(sentence: error.description)
    }
  }
}
