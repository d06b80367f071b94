// `parley destroy message|file|user ID`: destroys content for good, as the owner's operation of the API. It writes the evidence before,
// and replaces the backups after it.

import ParleyJSON
import ParleyNetworking
import Storage

extension Command {
  static let destroy = Command(
    "destroy", summary: "destroy a message, a file or a user for good", settings: DestroyCommand.settings,
    help: Help.destroy
  ) {
    missingWord(after: "destroy", $0).report()
  }
}

enum DestroyCommand {
  static let backupsPath = "/destroy/backups"
  private static let evidence = Setting(
    name: "evidence", value: "FILE", summary: "write the content to this tar archive before, with sums",
    isFlagOnly: true)
  private static let alsoBackups = Setting(
    name: "also-backups", value: nil, summary: "make and test a new backup, then delete all other copies of the site",
    isFlagOnly: true)
  static let settings: [Setting] = [.reason, evidence, alsoBackups]

  static let subcommands = [
    subcommand("message", operand: "ID", "destroy a message with its files"),
    subcommand("file", operand: "ID", "destroy all files with the content of a file"),
    subcommand("user", operand: "NAME", "destroy a user with all messages and files"),
  ]

  /// A large database takes a minute to rewrite.
  private static let timeout = 3_600

  private static func subcommand(_ word: String, operand: String, _ summary: String) -> Command {
    .control(
      "destroy \(word)", operands: [operand], summary: summary, settings: settings, operations: ["destroyContent"],
      help: Help.destroy
    ) { settings, client in
      guard let reason = settings.text(.reason) else {
        throw Settings.UsageError(
          message: "--reason is required. The audit log keeps it for ever: do not quote the content.")
      }
      let id = settings.operands[0]
      let written = try settings.text(evidence).map { file throws(Settings.UsageError) in
        try writeEvidence(word, id, client.data, to: try FileSystem.absolute(file))
      }
      var response = try await client.response(.post, "/destructions", timeout: timeout) { json in
        json.field(word, word == "user" && !id.hasPrefix("@") && Int(id) == nil ? "@\(id)" : id)
        json.field("reason", reason)
      }
      let isPurged = try response.bool("purged")
      let replacesBackups = settings.isOn(alsoBackups)
      let copies: [String] = try replacesBackups ? [] : response.read("copies")
      let text = [written, message(word, id, isPurged, copies, client.data)].compactMap(\.self).joined(separator: "\n")
      let outcome = Outcome(isPurged ? .success : .failure, text)
      guard replacesBackups else { return outcome }
      let replaced = try await client.run(backupsPath, [], ProgressBar())
      return Outcome(
        replaced.status == .success ? outcome.status : replaced.status, "\(text)\n\(replaced.message)")
    }
  }

  /// Returns the sentence about the written archive.
  private static func writeEvidence(
    _ word: String, _ id: String, _ data: String, to file: String
  ) throws(Settings.UsageError) -> String {
    let name = id.hasPrefix("@") ? String(id.dropFirst()) : id
    let subject: Evidence.Subject
    switch (word, Int(id)) {
    case ("message", let number?): subject = .message(number)
    case ("file", let number?): subject = .file(number)
    case ("user", _): subject = .user(name)
    case (_, _):
      throw Settings.UsageError(message: "The \(word) needs its id, a number, not \"\(Terminal.plain(id))\".")
    }
    do throws(BackupFault) {
      let evidence = try Evidence.write(subject, of: data, to: file, at: Clock.wall() / 1_000_000)
      let missing =
        evidence.missing == 0
        ? "" : " But the content of \(Amount.count(evidence.missing, "file")) is missing in the data folder."
      return "Evidence: \(file), \(Amount.count(evidence.messages, "message")) and "
        + "\(Amount.count(evidence.files, "file")).\(missing)"
    } catch {
      throw Settings.UsageError(message: error.description)
    }
  }

  /// In the daemon: replaces all copies of the site by a new backup.
  static func replaceBackups(of store: Store, onProgress: @escaping Progress.Report) async -> Outcome {
    do throws(BackupFault) {
      let replacement = try await store.replaceBackups(program: version) { progress throws(BackupFault) in
        guard onProgress(Progress(progress)) else { throw .cancelled }
      }
      let removed = replacement.removed.map { "\n  \($0)" }.joined()
      return Outcome(
        .success,
        "The new backup \(replacement.backup) has passed its test. "
          + (removed.isEmpty ? "There were no others." : "It replaces:\(removed)")
          + "\nDelete copies on other machines.")
    } catch {
      return Outcome(.failure, "The other copies of the site stay: \(error.description)")
    }
  }

  private static func message(
    _ word: String, _ id: String, _ isPurged: Bool, _ copies: [String], _ data: String
  ) -> String {
    var text = "Destroyed \(word) \(id)."
    text +=
      isPurged
      ? " The files of the server no longer have the content."
      : " Its bytes are still in the database, because a reader uses it or the disk is full: run parley purge."
    guard !copies.isEmpty else { return text }
    text += "\nThese copies were made before and may have the content. Delete them, and copies elsewhere:\n"
    return text + copies.map { $0.hasPrefix("/") ? "  \($0)" : "  \(data)/\($0)" }.joined(separator: "\n")
  }
}
