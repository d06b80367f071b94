// `parley export FILE.zip`: writes the content of a data folder as JSON Lines, files and pages, whether a server uses it or not.

import Community
import ParleyModel
import ParleyNetworking
import Storage

extension Command {
  static let export = Command(
    "export", operands: ["FILE"],
    summary: "write messages and files as JSON Lines and pages, for other programs and a browser",
    settings: [ExportCommand.user, .data, .config], help: Help.export, run: ExportCommand.run)
}

enum ExportCommand {
  static let user = Setting(
    name: "user", value: "NAME",
    summary: "only the data of this user: profile, own messages and files, direct and group conversations",
    isFlagOnly: true)

  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "export", [user, .data, .config],
        operands: ["FILE"])
      let data = settings.dataFolder
      guard FileSystem.exists(data) else {
        throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
      }
      let file = settings.operands[0]
      guard file.hasSuffix(".zip") else {
        throw Settings.UsageError(message: "The name of the export ends in .zip, as in parley export site.zip.")
      }
      let name = settings.text(user)
      outcome = await Interruption.during { interruption in
        write(data, file, name) { () throws(BackupFault) in
          if interruption.isRequested { throw .cancelled }
          bar.show(Progress("exporting", done: 0, of: 0))
        }
      }
    } catch {
      outcome = Outcome(.error, error.message)
    }
    bar.clear()
    return outcome.report()
  }

  private static func write(
    _ data: String, _ file: String, _ name: String?, check: @escaping () throws(BackupFault) -> Void
  ) -> Outcome {
    do throws(BackupFault) {
      let scope = try name.map { name throws(BackupFault) in try ExportScope(user: name, data: data) } ?? .site
      let report = try Community.export(
        data: data, to: file, scope, program: version, at: Clock.wall() / 1_000_000, check: check)
      let text =
        "\(file): \(Amount.bytes(report.size)), \(Amount.count(report.messages, "message")) in "
        + "\(Amount.count(report.conversations, "conversation")) and \(Amount.count(report.files, "file")). Open index.html in it "
        + "with a browser."
      guard report.missing > 0 else { return Outcome(.success, text) }
      return Outcome(
        .failure, "\(text)\nBut the content of \(Amount.count(report.missing, "file")) is missing on the server.")
    } catch .cancelled {
      return Outcome(.error, "The export was cancelled and removed.")
    } catch {
      return Outcome(.error, error.description)
    }
  }
}
