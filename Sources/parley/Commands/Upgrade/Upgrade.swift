import Glibc
import ParleyNetworking
import Storage

/// The steps of an upgrade.
struct Upgrade {
  let installation: Installation
  let data: String
  /// Whether systemd runs the service with the installed program.
  let hasUnits: Bool
  /// Excludes other runs.
  private let lock: Descriptor

  /// Seconds until the restarted service has to be ready.
  private static let patience = 120
  /// Seconds for the test of the migrations.
  private static let testTime = 4 * 3_600
  private static let pollInterval: Duration = .milliseconds(200)

  init(_ settings: Settings) async throws(Settings.UsageError) {
    installation = try Installation.current()
    let service = try await Self.service(of: installation)
    hasUnits = service != nil
    data = try Self.dataFolder(settings, served: service)
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    lock = try installation.lock()
    try installation.settle()
  }

  /// The data folder of the service that runs the installed program; nil if systemd runs another one, or none.
  private static func service(of installation: Installation) async throws(Settings.UsageError) -> String? {
    guard await ServiceUnits.areInstalled(), let served = try await ServiceUnits.served() else { return nil }
    return installation.isProgram(served.program) ? served.data : nil
  }

  /// The unit names the folder of its service; the working directory of this command does not count.
  private static func dataFolder(_ settings: Settings, served: String?) throws(Settings.UsageError) -> String {
    let chosen = try FileSystem.absolute(settings.dataFolder)
    guard let served else { return chosen }
    guard settings.source(.data) != .flag || FileSystem.resolved(chosen) == FileSystem.resolved(served) else {
      throw Settings.UsageError(
        message:
          "\(ServiceUnits.service) uses the data folder \(Terminal.plain(served)), not \(chosen). Repeat the command without "
          + "\(Setting.data.flag).")
    }
    return served
  }

  /// A closed terminal or Ctrl-C would leave the service stopped from here on.
  func ignoreSignals() {
    for number in [SIGHUP, SIGINT, SIGTERM] { signal(number, SIG_IGN) }
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
    try installation.requireOnlyArchive(data: data)
    try await installation.removeUnpacked(folder)
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
      let isRunning = await isRunning()
      ignoreSignals()
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
    let installed = Outcome(.success, "Version \(version) is installed already.")
    guard installation.hasPrevious else { return installed }
    let old = try await installation.previousVersion()
    guard old < version else { return installed }
    ignoreSignals()
    guard !isDone else {
      await updateUnits()
      return installed
    }
    return try await start(version, from: old, isRunning: true)
  }

  /// For the scripts of the package, which have installed the files.
  ///
  /// - Parameter package: the version of the package.
  func startInstalled(_ package: String) async throws(Settings.UsageError) -> Outcome {
    var version = try await installation.installedVersion()
    guard installation.hasPrevious else {
      throw Settings.UsageError(message: "There is no previous version beside \(version).")
    }
    var old = try await installation.previousVersion()
    ignoreSignals()
    // A failed upgrade has put the previous version back, and dpkg configures the package again.
    if version.description != package, old.description == package {
      try installation.exchange()
      (version, old) = (old, version)
      say("Installed version \(version) again")
    }
    guard await isRunning() else { return Outcome(.success, "Version \(version) is installed.") }
    do throws(Settings.UsageError) {
      try await test(installation.installed([]), "The new version")
    } catch {
      try installation.exchange()
      throw Settings.UsageError(message: "\(error.message)\nVersion \(old) is installed again.")
    }
    return try await start(version, from: old, isRunning: true)
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
    await updateUnits()
    guard hasUnits, isRunning else {
      let next = isRunning ? "Restart the server to run it." : "Start the server to run it."
      return Outcome(.success, "Version \(version) is installed. \(next) \(Self.wayBack)")
    }
    say("Restarting the service")
    guard let reason = await restart() else {
      return Outcome(.success, "Version \(version) runs. \(await wayBack(to: old))")
    }
    return await fallBack(from: version, to: old, because: reason)
  }

  private static let wayBack =
    "The way back is open for 7 days: parley upgrade --back. parley upgrade --confirm ends it."

  /// The sentence on the way back after a start. The copy of the database may be gone already: the disk was full, or a user was erased.
  private func wayBack(to old: ReleaseVersion) async -> String {
    do throws(Settings.UsageError) {
      guard try await needsPreviousDatabase(old) else {
        return
          "Version \(old) can use the database, too: parley upgrade --back. parley upgrade --confirm ends the way back."
      }
    } catch {
      return "There is no way back: \(error.message)"
    }
    guard WayBack(data: data) != nil else {
      return "There is no way back: the copy of the database from before its migration is gone."
    }
    return Self.wayBack
  }

  func confirm() async throws(Settings.UsageError) -> Outcome {
    let version = try await installation.installedVersion()
    try await installation.removePrevious()
    do throws(BackupFault) { try WayBack.remove(data: data) } catch {
      throw Settings.UsageError(message: error.description)
    }
    return Outcome(.success, "Version \(version) stays: the previous version and its database are deleted.")
  }

  // MARK: The service

  /// Lets copies of the units follow the installed version. The service also runs with the units of before.
  func updateUnits() async {
    guard hasUnits, let files = installation.unitFiles else { return }
    do throws(Settings.UsageError) {
      let (replaced, kept) = try files.update()
      for name in kept {
        say("\(UnitFiles.path(name)) has changes of yours. Compare it with \(files.installed)/\(name), which is new.")
      }
      guard !replaced.isEmpty else { return }
      for name in replaced { say("Replaced \(UnitFiles.path(name))") }
      try await ServiceUnits.reload()
    } catch {
      say(error.message)
    }
  }

  /// Whether the service runs, or another process of the server.
  func isRunning() async -> Bool {
    if await RunningProgram.find(in: data) != nil { return true }
    guard hasUnits else { return false }
    return await ServiceUnits.isActive()
  }

  /// Returns the reason of a failure.
  private func restart() async -> String? {
    do throws(Settings.UsageError) {
      try await ServiceUnits.restart()
    } catch {
      return error.message
    }
    return await waitUntilReady()
  }

  /// Starts the installed version. Returns whether it is ready, and its state.
  func startAgain(_ sockets: [String]) async -> (isReady: Bool, state: String) {
    var name = "The program of an unknown version"
    do throws(Settings.UsageError) { name = "Version \(try await installation.installedVersion())" } catch {
      say(error.message)
    }
    do throws(Settings.UsageError) { try await ServiceUnits.startAgain(sockets) } catch {
      return (false, "\(name) is installed, and it does not start: \(error.message)")
    }
    if let reason = await waitUntilReady() { return (false, "\(name) is installed, and it is not ready: \(reason)") }
    return (true, "\(name) runs.")
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

  func say(_ text: String) { Terminal.print("\(Terminal.plainLines(text).joined(separator: "\n"))\n") }
}
