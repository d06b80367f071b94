// `parley mail-in`: reads a mail that the mail server pipes to it, and hands its content to the daemon. The mail is hostile, so
// this process reads it, not the daemon.

import Mail
import ParleyJSON

extension Command {
  static let mailIn = Command(
    "mail-in", summary: "take a mail from the mail server: a reply to a notification, or a bounce",
    settings: [.recipient, .data, .config], help: Help.mailIn, run: MailInCommand.run)
}

enum MailInCommand {
  static let path = "/mail"
  /// `EX_TEMPFAIL` of sysexits(3): the mail server keeps the mail and tries again.
  static let temporaryFailure: Int32 = 75

  static func run(_ arguments: [String]) async -> Int32 {
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "mail-in", [.recipient, .data, .config])
      let input = try FileSystem.readInput(limit: MailLimits.message)
      let mail = try IncomingMail(
        input.bytes, isWhole: input.isWhole, recipients: settings.text(.recipient).map { [$0] } ?? [])
      var response = try await ControlClient(data: settings.dataFolder).response(
        .post, path, timeout: 60, mail.writeMembers)
      return Outcome(.success, try response.string("receipt")).report()
    } catch {
      _ = Outcome(error).report()
      return temporaryFailure
    }
  }
}
