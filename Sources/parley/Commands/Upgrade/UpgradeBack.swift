// The way back to the previous version, on request or after a failed start. Its program may be unable to read the current database, so the
// newer one, which is installed, compares the databases and puts the previous one back. Both do so as the owner of the data folder, in
// processes of their own.

import ParleyJSON
import Storage

extension Upgrade {
  /// Seconds for the state of the database, which is read from one table.
  private static let statusTime = 60
  /// Seconds for a comparison or a restore.
  private static let restoreTime = 4 * 3_600

  // MARK: On request

  func goBack(asks: Bool) async throws(Settings.UsageError) -> Outcome {
    let current = try await installation.installedVersion()
    guard installation.hasPrevious else { throw Settings.UsageError(message: "There is no previous version.") }
    let old = try await installation.previousVersion()
    guard old < current else {
      if hasUnits, await !isRunning() { return await startAfterCut() }
      throw Settings.UsageError(message: "Version \(current) has no previous version, but \(old) beside it.")
    }
    try installation.requireOnlyArchive(data: data)
    let needsDatabase = try await needsPreviousDatabase(old)
    var loss = "The database stays as it is: version \(old) can use it."
    if needsDatabase { loss = sentence(try await changes()) }
    guard !asks || Terminal.isInputTerminal else {
      throw Settings.UsageError(
        message: "Standard input is not a terminal. Add \(UpgradeCommand.yes.flag) to go back without a question.")
    }
    if asks {
      guard Terminal.confirms("\(loss)\nGo back from version \(current) to \(old)?") else {
        return Outcome(.error, "Nothing was changed.")
      }
    } else {
      say(loss)
    }
    let sockets = await hasUnits ? ServiceUnits.activeSockets() : []
    ignoreSignals()
    do throws(Settings.UsageError) {
      if hasUnits { try await ServiceUnits.stop(sockets) }
      if needsDatabase { say(try await putBack()) }
      try installation.exchange()
    } catch {
      guard hasUnits else { throw error }
      throw Settings.UsageError(message: "\(error.message)\n\(await startAgain(sockets).state)")
    }
    say("Installed version \(old)")
    await updateUnits()
    guard hasUnits else { return Outcome(.success, "Version \(old) is installed. Start the server to run it.") }
    say("Starting the service")
    let (isReady, state) = await startAgain(sockets)
    return Outcome(isReady ? .success : .failure, state)
  }

  /// Starts the version of before, whose return was cut off before its start.
  private func startAfterCut() async -> Outcome {
    ignoreSignals()
    await updateUnits()
    let (isReady, state) = await startAgain([])
    return Outcome(isReady ? .success : .failure, state)
  }

  private func sentence(_ changes: Changes) -> String {
    let time = changes.since.prefix(16).replacing("T", with: " ")
    return "\(Amount.count(changes.messages, "message")) since \(time) UTC will be missing; they stay in "
      + "\(data)/replaced-…/\(WayBack.messages)."
  }

  // MARK: After a failed start

  /// Goes back to the previous version. The new one stays if the database has changed since its migration, or can't be compared.
  func fallBack(from version: ReleaseVersion, to old: ReleaseVersion, because reason: String) async -> Outcome {
    let failure = "Version \(version) did not become ready: \(reason)"
    let needsDatabase: Bool
    do throws(Settings.UsageError) {
      needsDatabase = try await needsPreviousDatabase(old)
      // Also the room, before the stop.
      if needsDatabase { try requireNone(try await changes()) }
    } catch {
      return Outcome(.failure, "\(failure)\nIt stays installed: \(error.message)")
    }
    say("\(failure)\nGoing back to version \(old)")
    let sockets = await ServiceUnits.activeSockets()
    do throws(Settings.UsageError) {
      try await ServiceUnits.stop(sockets)
      if needsDatabase {
        // Messages may have come until the stop.
        try requireNone(try await changes())
        say(try await putBack([MigrateCommand.ifUnchanged.flag]))
      }
      try installation.exchange()
      await updateUnits()
    } catch {
      return Outcome(.failure, "\(failure)\n\(error.message)\n\(await startAgain(sockets).state)")
    }
    let (isReady, state) = await startAgain(sockets)
    return Outcome(
      .failure, isReady ? "\(failure)\nVersion \(old) and its database run again." : "\(failure)\n\(state)")
  }

  private func requireNone(_ changes: Changes) throws(Settings.UsageError) {
    guard changes.events != 0 || changes.messages != 0 else { return }
    throw Settings.UsageError(
      message:
        "\(Amount.count(changes.messages, "message")) and \(Amount.count(changes.events, "change")) came after its "
        + "migration. parley upgrade --back goes back without them.")
  }

  // MARK: The databases

  /// The changes since the migration.
  private struct Changes {
    let messages: Int
    let events: Int
    /// The time of the copy.
    let since: String
  }

  /// Whether the previous version can't use the database, as its own program says.
  func needsPreviousDatabase(_ old: ReleaseVersion) async throws(Settings.UsageError) -> Bool {
    let status = await installation.previous(["migrate", "--status", "--data", data]).run(
      input: "", environment: [:], within: Self.statusTime)
    if status.end == .exited(0) { return false }
    guard status.end == .exited(MigrateCommand.newerDatabase) else {
      throw Settings.UsageError(
        message: "Version \(old) can't tell whether it can use the database: \(status.reason)")
    }
    return true
  }

  private func changes() async throws(Settings.UsageError) -> Changes {
    let result = await installation.installed(["migrate", MigrateCommand.changes.flag, "--data", data]).run(
      input: "", environment: [:], within: Self.restoreTime)
    guard result.isSuccess else {
      throw Settings.UsageError(message: "The database can't be compared with that of before: \(result.reason)")
    }
    do {
      var object = try JSONValue(parsing: Array(result.output.utf8)).object()
      return Changes(
        messages: try object.int("messages"), events: try object.int("events"), since: try object.string("since"))
    } catch {
      throw Settings.UsageError(message: "The database can't be compared with that of before: \(error)")
    }
  }

  /// Puts the database from before the migration back. No server may run. Returns the sentence on what is missing.
  private func putBack(_ flags: [String] = []) async throws(Settings.UsageError) -> String {
    let result = await installation.installed(["migrate", MigrateCommand.undo.flag, "--data", data] + flags).run(
      input: "", environment: [:], within: Self.restoreTime)
    guard result.isSuccess else {
      throw Settings.UsageError(message: "The database from before the migration can't be put back: \(result.reason)")
    }
    return result.output
  }
}
