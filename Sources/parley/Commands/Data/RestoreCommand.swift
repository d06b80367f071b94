// `parley restore FILE`: restores a backup into a data folder that no daemon uses.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

extension Command {
  static let restore = Command(
    "restore", operands: ["FILE"], summary: "restore a backup into an empty data folder, or replace its content",
    settings: [.data, .config, .replace, .keepSessions], help: Help.restore, run: RestoreCommand.run)
}

enum RestoreCommand {
  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "restore",
        [.data, .config, .replace, .keepSessions],
        operands: ["FILE"])
      let data = settings.dataFolder
      let file = settings.operands[0]
      guard FileSystem.exists(file) else { throw Settings.UsageError(message: "The file \(file) does not exist.") }
      try FileSystem.makeFolder(data)
      outcome = await restore(file, to: try FileSystem.lock(data), settings, bar)
    } catch {
      outcome = Outcome(.error, error.message)
    }
    bar.clear()
    return outcome.report()
  }

  private static func restore(
    _ file: String, to folder: DataFolder, _ settings: Settings, _ bar: ProgressBar
  ) async -> Outcome {
    let now = Clock.wall() / 1_000_000
    let keepsSessions = settings.isOn(.keepSessions)
    let aside = Timestamp.format(Int(now)).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    return await Interruption.during { interruption in
      do throws(BackupFault) {
        let restored = try folder.restore(
          file, replacing: settings.isOn(.replace), aside: aside, keepsSessions: keepsSessions, at: now
        ) { progress throws(BackupFault) in
          if interruption.isRequested { throw .cancelled }
          bar.show(Progress(progress))
        }
        return outcome(of: restored, file, folder.path, keepsSessions: keepsSessions)
      } catch {
        return BackupCommand.outcome(of: error)
      }
    }
  }

  private static func outcome(
    of restored: DataFolder.Restored, _ file: String, _ data: String, keepsSessions: Bool
  ) -> Outcome {
    var text =
      "Restored \(file) to \(data): \(restored.report.summary), verified. Clients will resynchronize."
    text += "\n\(restored.undone)\n\(sessions(restored, keepsSessions))"
    if restored.erasedAgain > 0 {
      text += "\nThe next start erases again what was erased. Delete \(data)/erasures before it to keep it."
    }
    if let warning = restored.warning { text += "\n\(warning)" }
    if let replaced = restored.replaced {
      text += "\nThe previous data is in \(replaced) until you delete it."
    }
    guard restored.report.missing > 0 else { return Outcome(.success, text) }
    return Outcome(
      .failure, "\(text)\nBut \(restored.report.missingMessage): this was already so when the backup was made.")
  }

  private static func sessions(_ restored: DataFolder.Restored, _ keepsSessions: Bool) -> String {
    guard keepsSessions else {
      return "All sessions and tokens have ended: users sign in again, and programs need new tokens."
    }
    return restored.isCompared
      ? "Sessions and tokens are kept, except those that were revoked since the backup."
      : "Sessions and tokens are kept, also those that were revoked since the backup."
  }
}
