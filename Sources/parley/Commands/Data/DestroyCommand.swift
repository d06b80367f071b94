// `parley destroy message|file|user ID`: destroys content for good, as the owner's operation of the API.

import ParleyJSON

extension Command {
  static let destroy = Command(
    "destroy", summary: "destroy a message, a file or a user for good", settings: [.reason], help: Help.destroy
  ) {
    missingWord(after: "destroy", $0).report()
  }
}

enum DestroyCommand {
  static let subcommands = [
    subcommand("message", operand: "ID", "destroy a message with its files"),
    subcommand("file", operand: "ID", "destroy all files with the content of a file"),
    subcommand("user", operand: "NAME", "destroy a user with all messages and files"),
  ]

  /// A large database takes a minute to rewrite.
  private static let timeout = 3_600

  private static func subcommand(_ word: String, operand: String, _ summary: String) -> Command {
    .control(
      "destroy \(word)", operands: [operand], summary: summary, settings: [.reason], operations: ["destroyContent"],
      help: Help.destroy
    ) { settings, client in
      guard let reason = settings.text(.reason) else {
        throw Settings.UsageError(
          message: "--reason is required. The audit log keeps it for ever: do not quote the content.")
      }
      let id = settings.operands[0]
      var response = try await client.response(.post, "/destructions", timeout: timeout) { json in
        json.field(word, word == "user" && !id.hasPrefix("@") && Int(id) == nil ? "@\(id)" : id)
        json.field("reason", reason)
      }
      return Outcome(
        try response.bool("purged") ? .success : .failure,
        message(word, id, try response.bool("purged"), try response.read("copies"), client.data))
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
    return text + copies.map { "  \(data)/\($0)" }.joined(separator: "\n")
  }
}
