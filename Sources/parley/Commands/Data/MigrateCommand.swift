// `parley migrate`: applies, lists, tests or undoes the database migrations without starting the server.

import Glibc
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage

extension Command {
  static let migrate = Command(
    "migrate", summary: "apply database migrations, list them with --status, test them with --check",
    settings: MigrateCommand.modes + [MigrateCommand.ifUnchanged, .data, .config, .share], help: Help.migrate
  ) { arguments in await MigrateCommand.run(arguments) }
}

enum MigrateCommand {
  static let check = Setting(
    name: "check", value: nil, summary: "migrate and verify a copy of the database, without changes", isFlagOnly: true)

  static let changes = Setting(
    name: "changes", value: nil, summary: "count the changes since the last migration, as JSON", isFlagOnly: true)
  static let undo = Setting(
    name: "undo", value: nil, summary: "put the database before the last migration back", isFlagOnly: true)
  static let ifUnchanged = Setting(
    name: "if-unchanged", value: nil, summary: "with --undo: only if nothing has changed since", isFlagOnly: true)
  static let modes: [Setting] = [.status, check, changes, undo]

  /// Exit status of --status for a database of a newer version.
  static let newerDatabase: Int32 = 3

  static func run(_ arguments: [String]) async -> Int32 {
    do throws(Settings.UsageError) {
      let flags = modes.map(\.flag)
      let settings = try Settings(
        arguments: arguments.filter { !flags.contains($0) && $0 != ifUnchanged.flag }, environment: Terminal.environment
      )
      let chosen = flags.filter { arguments.contains($0) }
      guard chosen.count <= 1 else {
        throw Settings.UsageError(message: "\(chosen[0]) and \(chosen[1]) exclude each other.")
      }
      let isCareful = arguments.contains(ifUnchanged.flag)
      guard !isCareful || chosen.first == undo.flag else {
        throw Settings.UsageError(message: "\(ifUnchanged.flag) needs \(undo.flag).")
      }
      let data = settings.dataFolder
      if chosen.first == changes.flag { return try count(data).report() }
      if chosen.first == undo.flag { return try goBack(data, ifUnchanged: isCareful).report() }
      let migrations = FileSystem.migrations(try FileSystem.share(settings.text(.share)))
      if chosen.first == check.flag { return try await test(data, migrations).report() }
      return chosen.isEmpty ? try migrate(data, migrations) : try status(data, migrations)
    } catch {
      Terminal.log(error.message)
      return 2
    }
  }

  /// Root acts as the owner of the folder, so that no file is in the way of the server, and no link leads root elsewhere.
  private static func status(_ data: String, _ migrations: String) throws(Settings.UsageError) -> Int32 {
    try FileSystem.actAsOwner(of: data)
    do throws(StoreFault) {
      let steps = try Schema.status(ofDatabaseIn: data, migrations: migrations)
      for step in steps {
        Terminal.print("\(step.file)  \(step.appliedAt.map { "applied \(Timestamp.format($0))" } ?? "missing")\n")
      }
      return steps.allSatisfy { $0.appliedAt != nil } ? 0 : 1
    } catch {
      guard case .newer(let sentences) = error else { throw Settings.UsageError(message: error.description) }
      Terminal.log(sentences)
      return newerDatabase
    }
  }

  // MARK: The way back

  /// The server may run.
  private static func count(_ data: String) throws(Settings.UsageError) -> Outcome {
    try FileSystem.actAsOwner(of: data)
    umask(0o077)
    let wayBack = try previousDatabase(in: data)
    let changes: WayBack.Changes
    do throws(BackupFault) { changes = try wayBack.changes(at: Clock.wall() / 1_000_000) } catch {
      throw Settings.UsageError(message: error.description)
    }
    var json = JSONWriter()
    json.object { json in
      json.field("messages", changes.messages)
      json.field("events", changes.events)
      json.field("since", Timestamp(wayBack.madeAt))
    }
    return Outcome(.success, String(decoding: json.bytes, as: UTF8.self))
  }

  /// No server may run. Root acts as the owner of the folder.
  private static func goBack(_ data: String, ifUnchanged: Bool) throws(Settings.UsageError) -> Outcome {
    try FileSystem.actAsOwner(of: data)
    let folder = try FileSystem.lock(data)
    let wayBack = try previousDatabase(in: data)
    let now = Clock.wall() / 1_000_000
    let aside = Timestamp.format(Int(now)).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    do throws(BackupFault) {
      let changes = try wayBack.changes(at: now)
      // No server writes while the folder is locked.
      guard !ifUnchanged || changes.messages == 0 && changes.events == 0 else {
        return Outcome(
          .error,
          "\(Amount.count(changes.messages, "message")) and \(Amount.count(changes.events, "change")) came since. Nothing "
            + "was changed.")
      }
      let restored = try folder.putBack(wayBack, aside: aside, at: now) { _ in }
      let time = Timestamp.format(Int(wayBack.madeAt)).prefix(16).replacing("T", with: " ")
      let kept = restored.replaced.map { ", kept in \($0)/\(WayBack.messages)" } ?? ""
      let warning = restored.warning.map { " \($0)" } ?? ""
      return Outcome(
        .success,
        "Missing: \(Amount.count(changes.messages, "message")) since \(time) UTC\(kept). \(restored.undone)\(warning)")
    } catch {
      throw Settings.UsageError(message: error.description)
    }
  }

  private static func previousDatabase(in data: String) throws(Settings.UsageError) -> WayBack {
    guard let wayBack = WayBack(data: data) else {
      throw Settings.UsageError(
        message:
          "The copy of the database from before its last migration is gone: it is kept for 7 days, until parley upgrade "
          + "--confirm, an erasure or a purge. Restore a backup instead.")
    }
    return wayBack
  }

  // MARK: The test

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
