// `parley key export|import`: the key with which the site signs checkpoints. No backup contains it.

import ParleyCrypto
import Storage

extension Command {
  static let key = Command(
    "key", summary: "export or import the key that signs checkpoints", settings: KeyCommand.importSettings,
    help: Help.key
  ) {
    missingWord(after: "key", $0).report()
  }
}

enum KeyCommand {
  static let settings: [Setting] = [.data, .config]
  private static let replace = Setting(
    name: "replace", value: nil, summary: "replace another key of the site", isFlagOnly: true)
  static let importSettings = settings + [replace]

  static let subcommands = [
    Command(
      "key export", summary: "print the key that signs checkpoints", settings: settings, help: Help.keyExport
    ) { arguments in
      report {
        let data = try Settings(
          arguments: arguments, environment: Terminal.environment, of: "key export", KeyCommand.settings
        ).dataFolder
        guard let key = try SiteKey.read(data) else {
          return Outcome(.failure, "\(data) has no key yet. The first start of the server makes it.")
        }
        return Outcome(.success, Hex.text(key.secret))
      }
    },
    Command(
      "key import", operands: ["FILE"], summary: "replace the key that signs checkpoints",
      settings: importSettings, help: Help.key
    ) { arguments in
      report {
        let settings = try Settings(
          arguments: arguments, environment: Terminal.environment, of: "key import",
          importSettings, operands: ["FILE"])
        let file = settings.operands[0]
        let text = String(decoding: try FileSystem.read(file), as: UTF8.self)
        guard let secret = Hex.bytes(text.hasSuffix("\n") ? String(text.dropLast()) : text),
          secret.count == Ed25519.keyBytes
        else { throw Settings.UsageError(message: "\(file) is not a key: it has 64 hexadecimal digits.") }
        let key = try Ed25519(secret: secret)
        try FileSystem.makeFolder(settings.dataFolder)
        let folder = try FileSystem.lock(settings.dataFolder)
        if let earlier = try SiteKey.read(folder.path), earlier.secret != key.secret, !settings.isOn(replace) {
          throw Settings.UsageError(
            message: "\(folder.path) signs with another key, \(Hex.text(earlier.point)), which no backup has. Save it with "
              + "parley key export, then import with --replace.")
        }
        try SiteKey.replace(in: folder, by: key)
        return Outcome(.success, "\(folder.path) signs with the key \(Hex.text(key.point)) from now on.")
      }
    },
  ]

  private static func report(_ body: () throws -> Outcome) -> Int32 {
    do { return try body().report() } catch let error as Settings.UsageError {
      return Outcome(.error, error.message).report()
    } catch {
      return Outcome(.error, "\(error)").report()
    }
  }
}
