// `parley upgrade FILE`: verifies an archive of a release, tests the migration with a copy of the database, exchanges the programs,
// restarts the service and waits until it is ready. If it does not become ready, the previous program and database run again.
// `--back` does the same later, `--confirm` ends the way back.

import Glibc

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
    name: "installed", value: "VERSION", summary: "test and start a version, for the scripts of the package",
    isFlagOnly: true)
  static let settle = Setting(
    name: "settle", value: nil, summary: "complete a change that was cut off, for the scripts of the package",
    isFlagOnly: true)
  static let publicKey = Setting(
    name: "public-key", value: "FILE", summary: "public key of minisign, instead of that of the installed version",
    isFlagOnly: true)
  static let yes = Setting(name: "yes", value: nil, summary: "go back without a question", isFlagOnly: true)
  static let settings: [Setting] = [back, confirm, installed, settle, yes, publicKey, .data, .config]

  @Sendable static func run(_ arguments: [String]) async -> Int32 {
    do throws(Settings.UsageError) {
      return try await perform(arguments).report()
    } catch {
      return Outcome(.error, error.message).report()
    }
  }

  private static func perform(_ arguments: [String]) async throws(Settings.UsageError) -> Outcome {
    let modes = [back, confirm, installed, settle].filter { arguments.contains($0.flag) }
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
    // Files of all users, which only root may write.
    umask(0o022)
    let upgrade = try await Upgrade(settings)
    if settings.isOn(back) { return try await upgrade.goBack(asks: !settings.isOn(yes)) }
    if settings.isOn(confirm) { return try await upgrade.confirm() }
    if let version = settings.text(installed) { return try await upgrade.startInstalled(version) }
    // Every run begins so.
    if settings.isOn(settle) { return Outcome(.success, "") }
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
