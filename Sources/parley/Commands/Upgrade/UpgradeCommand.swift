// `parley upgrade FILE`: verifies an archive of a release, tests the migration with a copy of the database, exchanges the programs,
// restarts the service and waits until it is ready. If it does not become ready, the previous program and database run again.
// `--back` does the same later, `--confirm` ends the way back.

import Glibc
import ParleyJSON
import ParleyNetworking
import Storage

extension Command {
  static let upgrade = Command(
    "upgrade", operands: ["[FILE]"], summary: "install an archive of a newer version, or go back to the previous one",
    settings: UpgradeCommand.settings, help: Help.upgrade, run: UpgradeCommand.run)
}

enum UpgradeCommand {
  static let back = Setting(
    name: "back", value: nil, summary: "go back to the previous version and its database", isFlagOnly: true)
  static let confirm = Setting(
    name: "confirm", value: nil, summary: "delete the previous version and its database", isFlagOnly: true)
  static let installed = Setting(
    name: "installed", value: nil, summary: "test and start the installed version, for the scripts of the package",
    isFlagOnly: true)
  static let publicKey = Setting(
    name: "public-key", value: "FILE", summary: "public key of minisign, instead of that of the installed version",
    isFlagOnly: true)
  static let yes = Setting(name: "yes", value: nil, summary: "go back without a question", isFlagOnly: true)
  static let settings: [Setting] = [back, confirm, installed, yes, publicKey, .data, .config]

  @Sendable static func run(_ arguments: [String]) async -> Int32 {
    do throws(Settings.UsageError) {
      return try await perform(arguments).report()
    } catch {
      return Outcome(.error, error.message).report()
    }
  }

  private static func perform(_ arguments: [String]) async throws(Settings.UsageError) -> Outcome {
    let modes = [back, confirm, installed].filter { arguments.contains($0.flag) }
    let settings = try Settings(
      arguments: arguments, environment: Terminal.environment, of: "upgrade", self.settings,
      operands: modes.isEmpty ? ["FILE"] : [])
    guard modes.count <= 1 else {
      throw Settings.UsageError(message: "\(modes[0].flag) and \(modes[1].flag) exclude each other.")
    }
    guard geteuid() == 0 else {
      throw Settings.UsageError(
        message: "parley upgrade replaces the program and restarts the service, so it needs root: sudo parley upgrade …"
      )
    }
    let upgrade = try await Upgrade(settings)
    if settings.isOn(back) { return try await upgrade.goBack(asks: !settings.isOn(yes)) }
    if settings.isOn(confirm) { return try await upgrade.confirm() }
    if settings.isOn(installed) { return try await upgrade.startInstalled() }
    return try await upgrade.install(settings.operands[0], key: try key(settings))
  }

  private static func key(_ settings: Settings) throws(Settings.UsageError) -> ReleaseKey {
    let path: String
    if let text = settings.text(publicKey) { path = text } else { path = "\(try FileSystem.share(nil))/minisign.pub" }
    guard FileSystem.exists(path) else {
      throw Settings.UsageError(
        message: "The public key \(path) is missing. Name that of SECURITY.md with \(publicKey.flag).")
    }
    guard let key = ReleaseKey(String(decoding: try FileSystem.read(path), as: UTF8.self)) else {
      throw Settings.UsageError(message: "\(path) is no public key of minisign. SECURITY.md says where the key is.")
    }
    return key
  }
}

/// The steps of an upgrade and of the way back.
struct Upgrade {
  private let installation: Installation
  private let data: String
  /// Whether systemd runs the service.
  private let hasUnits: Bool

  /// Seconds until the restarted service has to be ready.
  private static let patience = 120
  /// Seconds for the test of the migrations.
  private static let testTime = 4 * 3_600
  private static let statusTime = 60
  private static let pollInterval: Duration = .milliseconds(200)

  init(_ settings: Settings) async throws(Settings.UsageError) {
    installation = try Installation.current()
    data = try FileSystem.absolute(settings.dataFolder)
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    hasUnits = await ServiceUnits.areInstalled()
  }

  // MARK: Forward

  func install(_ file: String, key: ReleaseKey) async throws(Settings.UsageError) -> Outcome {
    guard let folder = installation.folder else {
      throw Settings.UsageError(
        message:
          "This program was installed by a Debian package. Check the signature of the new package (SECURITY.md), then: "
          + "apt install ./parley_VERSION_\(Release.architecture).deb. The package tests the database in the same way.")
    }
    let old = try await installation.installedVersion()
    guard FileSystem.exists(file) else { throw Settings.UsageError(message: "The file \(file) does not exist.") }
    try installation.requireRoom(for: file, in: folder)
    do throws(Settings.UsageError) {
      let release = try await Release(file, copy: installation.copy(folder), key: key)
      say("Verified the signature of version \(release.version)")
      guard release.version >= old else {
        throw Settings.UsageError(
          message:
            "The archive has version \(release.version), and \(old) is installed. parley upgrade --back goes back to "
            + "the previous version.")
      }
      if release.version == old {
        try await installation.removeUnpacked(folder)
        return try await resume(old)
      }
      try await installation.unpack(release, in: folder)
      say("Unpacked it beside \(folder)")
      try await test(installation.unpackedProgram(in: folder), "The new version")
      try FileSystem.remove(release.path)
      let isRunning = await RunningProgram.find(in: data) != nil
      try await installation.install(folder)
      say("Installed version \(release.version)")
      return try await start(release.version, from: old, isRunning: isRunning)
    } catch {
      try? await installation.removeUnpacked(folder)
      throw error
    }
  }

  /// Completes an upgrade that was cut off before the service was ready.
  private func resume(_ version: ReleaseVersion) async throws(Settings.UsageError) -> Outcome {
    let running = await RunningProgram.find(in: data)
    let isDone = running.map { installation.isInstalled($0) && $0.isReady } ?? !hasUnits
    guard !isDone, installation.hasPrevious else {
      return Outcome(.success, "Version \(version) is installed already.")
    }
    return try await start(version, from: try await installation.previousVersion(), isRunning: true)
  }

  /// For the scripts of the package, which have installed the files.
  func startInstalled() async throws(Settings.UsageError) -> Outcome {
    let version = try await installation.installedVersion()
    guard installation.hasPrevious else {
      throw Settings.UsageError(message: "There is no previous version beside \(version).")
    }
    let old = try await installation.previousVersion()
    let isRunning = await RunningProgram.find(in: data) != nil
    do throws(Settings.UsageError) {
      try await test(installation.installed([]), "The new version")
    } catch {
      try installation.exchange()
      throw Settings.UsageError(message: "\(error.message)\nVersion \(old) is installed again.")
    }
    return try await start(version, from: old, isRunning: isRunning)
  }

  /// Lets a program migrate and verify a copy of the database. The server may run.
  private func test(_ program: ChildProgram, _ name: String) async throws(Settings.UsageError) {
    say("Testing it with a copy of the database")
    let result = await ChildProgram(program.arguments + ["migrate", "--check", "--data", data]).run(
      input: "", environment: [:], within: Self.testTime)
    guard result.isSuccess else {
      throw Settings.UsageError(message: "\(name) can't use the database, and nothing was changed: \(result.reason)")
    }
    say(result.output)
  }

  /// Restarts the service with the installed version. On a failure the previous one runs again.
  private func start(
    _ version: ReleaseVersion, from old: ReleaseVersion, isRunning: Bool
  ) async throws(Settings.UsageError) -> Outcome {
    guard hasUnits, isRunning else {
      let next = isRunning ? "Restart the server to run it." : "Start the server to run it."
      return Outcome(.success, "Version \(version) is installed. \(next) \(Self.wayBack)")
    }
    say("Restarting the service")
    let reason = await restart()
    guard let reason else { return Outcome(.success, "Version \(version) runs. \(Self.wayBack)") }
    let wayBack = try await wayBack(to: old)
    let now = Clock.wall() / 1_000_000
    // A database that can't be compared is kept as a whole.
    if let missing = wayBack.flatMap({ try? $0.missingMessages(at: now) }), missing > 0 {
      return Outcome(
        .failure,
        "Version \(version) is not ready: \(reason)\nIt stays, since \(Amount.count(missing, "message")) came after its "
          + "migration. parley upgrade --back goes back without them.")
    }
    say("Version \(version) does not run: \(reason)\nGoing back to version \(old)")
    try await putBack(wayBack, at: now)
    return Outcome(
      .failure, "Version \(version) did not become ready: \(reason)\nVersion \(old) and its database run again.")
  }

  private static let wayBack =
    "The way back is open for 7 days: parley upgrade --back. parley upgrade --confirm ends it."

  // MARK: Back

  func goBack(asks: Bool) async throws(Settings.UsageError) -> Outcome {
    let current = try await installation.installedVersion()
    guard installation.hasPrevious else { throw Settings.UsageError(message: "There is no previous version.") }
    let old = try await installation.previousVersion()
    guard old < current else {
      throw Settings.UsageError(message: "Version \(current) has no previous version, but \(old) beside it.")
    }
    let wayBack = try await wayBack(to: old)
    guard !asks || Terminal.isInputTerminal else {
      throw Settings.UsageError(
        message: "Standard input is not a terminal. Add \(UpgradeCommand.yes.flag) to go back without a question.")
    }
    let now = Clock.wall() / 1_000_000
    let aside = Self.aside(now)
    let sentence = try wayBack.map { wayBack throws(Settings.UsageError) in
      try self.sentence(wayBack, aside: aside, at: now)
    }
    let loss = sentence ?? "The database stays as it is: version \(old) can use it."
    if asks {
      guard Terminal.confirms("\(loss)\nGo back from version \(current) to \(old)?") else {
        return Outcome(.error, "Nothing was changed.")
      }
    } else {
      say(loss)
    }
    if hasUnits { try await ServiceUnits.stop() }
    let restored = try wayBack.map { wayBack throws(Settings.UsageError) in
      try self.restore(wayBack, aside: aside, at: now)
    }
    try installation.exchange()
    say("Installed version \(old)")
    guard hasUnits else { return Outcome(.success, "Version \(old) is installed. Start the server to run it.") }
    say("Starting the service")
    try await ServiceUnits.startService()
    let reason = await waitUntilReady()
    let details = restored.map { "\n\($0.undone)" } ?? ""
    guard let reason else { return Outcome(.success, "Version \(old) runs.\(details)") }
    return Outcome(.failure, "Version \(old) is installed, and it is not ready: \(reason)\(details)")
  }

  /// The database of the previous version; nil if that version can use the current one.
  private func wayBack(to old: ReleaseVersion) async throws(Settings.UsageError) -> WayBack? {
    let status = await installation.previous(["migrate", "--status", "--data", data]).run(
      input: "", environment: [:], within: Self.statusTime)
    if status.end == .exited(0) { return nil }
    guard let wayBack = WayBack(data: data) else {
      throw Settings.UsageError(
        message:
          "Version \(old) can't use the database, and the copy from before its migration is gone: it is kept for 7 days, "
          + "until --confirm, an erasure or a purge. Restore a backup with version \(old) instead.")
    }
    return wayBack
  }

  private func sentence(_ wayBack: WayBack, aside: String, at now: Int64) throws(Settings.UsageError) -> String {
    let count: Int
    do throws(BackupFault) { count = try wayBack.missingMessages(at: now) } catch {
      throw Settings.UsageError(message: "\(error.description) Nothing was changed.")
    }
    let time = Timestamp.format(Int(wayBack.madeAt)).prefix(16).replacing("T", with: " ")
    return "\(Amount.count(count, "message")) since \(time) UTC will be missing; they stay in "
      + "\(data)/replaced-\(aside)/\(WayBack.messages)."
  }

  private func restore(
    _ wayBack: WayBack, aside: String, at now: Int64
  ) throws(Settings.UsageError) -> DataFolder.Restored {
    let folder = try FileSystem.lock(data)
    do throws(BackupFault) {
      return try folder.putBack(wayBack, aside: aside, at: now) { _ in }
    } catch {
      throw Settings.UsageError(message: error.description)
    }
  }

  private static func aside(_ now: Int64) -> String {
    Timestamp.format(Int(now)).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }

  /// After a failed start: the previous database, if the previous version needs it, then the previous program. In this order, because
  /// the new program can use both databases.
  private func putBack(_ wayBack: WayBack?, at now: Int64) async throws(Settings.UsageError) {
    try await ServiceUnits.stop()
    if let wayBack { _ = try restore(wayBack, aside: Self.aside(now), at: now) }
    try installation.exchange()
    try await ServiceUnits.startService()
    if let reason = await waitUntilReady() {
      throw Settings.UsageError(
        message: "The previous version is installed again, and it is not ready: \(reason) See journalctl --unit "
          + "\(ServiceUnits.service) -n 20.")
    }
  }

  func confirm() async throws(Settings.UsageError) -> Outcome {
    let version = try await installation.installedVersion()
    do throws(BackupFault) { try WayBack.remove(data: data) } catch {
      throw Settings.UsageError(message: error.description)
    }
    try await installation.removePrevious()
    return Outcome(.success, "Version \(version) stays: the previous version and its database are deleted.")
  }

  // MARK: The service

  /// Returns the reason of a failure.
  private func restart() async -> String? {
    do throws(Settings.UsageError) {
      try await ServiceUnits.restart()
    } catch {
      return error.message
    }
    return await waitUntilReady()
  }

  /// Returns the reason of a failure.
  private func waitUntilReady() async -> String? {
    let deadline = Clock.monotonic() + Int64(Self.patience) * 1_000_000_000
    var isOther = false
    while Clock.monotonic() < deadline {
      if let running = await RunningProgram.find(in: data) {
        isOther = !installation.isInstalled(running)
        if running.isReady, !isOther { return nil }
      } else if await ServiceUnits.hasFailed() {
        return "the service has ended. See journalctl --unit \(ServiceUnits.service) -n 20."
      }
      try? await Task.sleep(for: Self.pollInterval)
    }
    return isOther ? "another program uses \(data)." : "it does not accept changes after \(Self.patience) seconds."
  }

  private func say(_ text: String) { Terminal.print("\(Terminal.plainLines(text).joined(separator: "\n"))\n") }
}
