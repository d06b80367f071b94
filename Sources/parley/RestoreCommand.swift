// `parley restore FILE`: puts a backup into a data folder that nobody uses.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

enum RestoreCommand {
  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    do throws(Settings.Mistake) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "restore", [.data, .replace], operands: ["FILE"])
      let data = settings.text(.data) ?? "./data"
      let file = settings.operands[0]
      guard Folder.exists(file) else { throw Settings.Mistake(sentence: "There is no file \(file).") }
      try Folder.make(data)
      outcome = await restore(file, to: try Folder.lock(data), isReplacing: settings.isOn(.replace), bar)
    } catch {
      outcome = Outcome(.impossible, error.sentence)
    }
    bar.clear()
    return outcome.tell()
  }

  private static func restore(
    _ file: String, to folder: DataFolder, isReplacing: Bool, _ bar: ProgressBar
  ) async -> Outcome {
    let aside = Timestamp.format(Int(Clock.wall() / 1_000_000)).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    return await Interruption.during { interruption in
      do throws(BackupFault) {
        let restored = try folder.restore(file, replacing: isReplacing, aside: aside) {
          progress throws(BackupFault) in
          if interruption.hasCome { throw .stopped }
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
      "\(data) holds what \(file) held: \(restored.report.summary), checked. Devices will fetch everything anew."
    if let replaced = restored.replaced {
      text += "\nWhat was there before is in \(replaced), until you remove it."
    }
    guard restored.report.missing > 0 else { return Outcome(.well, text) }
    return Outcome(.wrong, "\(text)\nBut \(restored.report.missingSentence): they were so when the backup was made.")
  }
}
