// `parley restore FILE`, `parley restore FOLDER[@TIME]`, `parley restore -`: restores a backup into a data folder that no daemon
// uses.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

extension Command {
  static let restore = Command(
    "restore", operands: ["BACKUP"], summary: "restore a backup into an empty data folder, or replace its content",
    settings: [.json, .data, .config, .replace, .keepSessions], help: Help.restore, run: RestoreCommand.run)
}

enum RestoreCommand {
  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    var isJSON = false
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "restore",
        [.json, .data, .config, .replace, .keepSessions],
        operands: ["BACKUP"])
      isJSON = settings.isOn(.json)
      let data = settings.dataFolder
      outcome = try await restore(settings.operands[0], data, settings, bar)
    } catch {
      outcome = Outcome(.error, error.message)
    }
    bar.clear()
    return outcome.report(asJSON: isJSON)
  }

  private static func restore(
    _ operand: String, _ data: String, _ settings: Settings, _ bar: ProgressBar
  ) async throws(Settings.UsageError) -> Outcome {
    let source: BackupSource
    do throws(BackupFault) { source = try BackupSource(operand, at: Clock.wall() / 1_000_000) } catch {
      throw Settings.UsageError(message: error.description)
    }
    if source == .standardInput, Terminal.isInputTerminal {
      throw Settings.UsageError(message: "Standard input is a terminal. Redirect it from a file or a program.")
    }
    try FileSystem.makeFolder(data)
    return await restore(source, to: try FileSystem.lock(data), settings, bar)
  }

  private static func restore(
    _ source: BackupSource, to folder: DataFolder, _ settings: Settings, _ bar: ProgressBar
  ) async -> Outcome {
    let now = Clock.wall() / 1_000_000
    let keepsSessions = settings.isOn(.keepSessions)
    let aside = Timestamp.format(Int(now)).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    return await Interruption.during { interruption in
      do throws(BackupFault) {
        let restored = try folder.restore(
          source, replacing: settings.isOn(.replace), aside: aside, keepsSessions: keepsSessions, at: now
        ) { progress throws(BackupFault) in
          if interruption.isRequested { throw .cancelled }
          bar.show(Progress(progress))
        }
        return outcome(of: restored, source.title, folder.path, keepsSessions: keepsSessions)
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
