// `parley restore FILE`: restores a backup into a data folder that no daemon uses.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

extension Command {
  static let restore = Command(
    "restore", operands: ["FILE"], summary: "restore a backup into an empty data folder, or replace its content",
    help: Help.restore, run: RestoreCommand.run)
}

enum RestoreCommand {
  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "restore", [.data, .replace], operands: ["FILE"])
      let data = settings.dataFolder
      let file = settings.operands[0]
      guard FileSystem.exists(file) else { throw Settings.UsageError(message: "The file \(file) does not exist.") }
      try FileSystem.makeFolder(data)
      outcome = await restore(file, to: try FileSystem.lock(data), isReplacing: settings.isOn(.replace), bar)
    } catch {
      outcome = Outcome(.error, error.message)
    }
    bar.clear()
    return outcome.report()
  }

  private static func restore(
    _ file: String, to folder: DataFolder, isReplacing: Bool, _ bar: ProgressBar
  ) async -> Outcome {
    let aside = Timestamp.format(Int(Clock.wall() / 1_000_000)).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    return await Interruption.during { interruption in
      do throws(BackupFault) {
        let restored = try folder.restore(file, replacing: isReplacing, aside: aside) {
          progress throws(BackupFault) in
          if interruption.isRequested { throw .cancelled }
          bar.show(Progress(progress))
        }
        return outcome(of: restored, file, folder.path)
      } catch {
        return BackupCommand.outcome(of: error)
      }
    }
  }

  private static func outcome(of restored: DataFolder.Restored, _ file: String, _ data: String) -> Outcome {
    var text =
      "Restored \(file) to \(data): \(restored.report.summary), verified. Clients will resynchronize."
    if let replaced = restored.replaced {
      text += "\nThe previous data is in \(replaced) until you delete it."
    }
    guard restored.report.missing > 0 else { return Outcome(.success, text) }
    return Outcome(
      .failure, "\(text)\nBut \(restored.report.missingMessage): this was already so when the backup was made.")
  }
}
