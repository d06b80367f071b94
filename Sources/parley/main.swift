import Glibc
import ParleyNetworking

// Commands are few; each is a file of its own.
Signals.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())
let rest = Array(arguments.dropFirst())
let asksForHelp = rest.contains("--help") || rest.contains("-h")

switch arguments.first {
case "serve" where asksForHelp: Terminal.print(Help.serve)
case "serve": exit(await ServeCommand.run(rest))
case "backup" where asksForHelp: Terminal.print(Help.backup)
case "backup": exit(await BackupCommand.run(rest))
case "restore" where asksForHelp: Terminal.print(Help.restore)
case "restore": exit(await RestoreCommand.run(rest))
case "purge" where asksForHelp: Terminal.print(Help.purge)
case "purge": exit(await PurgeCommand.run(rest))
case "migrate" where asksForHelp: Terminal.print(Help.migrate)
case "migrate": exit(MigrateCommand.run(rest))
case "health" where asksForHelp: Terminal.print(Help.health)
case "health": exit(await HealthCommand.run(rest))
case "verify" where asksForHelp: Terminal.print(Help.verify)
case "verify": exit(VerifyCommand.run(rest))
case "user" where asksForHelp: Terminal.print(Help.user)
case "user": exit(await UserCommand.run(rest))
case "token" where asksForHelp: Terminal.print(Help.token)
case "token": exit(await TokenCommand.command.run(rest))
case "invite" where asksForHelp: Terminal.print(Help.invite)
case "invite": exit(await InviteCommand.command.run(rest))
case "tail" where asksForHelp: Terminal.print(Help.tail)
case "tail": exit(await TailCommand.run(rest))
case "setup" where asksForHelp: Terminal.print(Help.setup)
case "setup": exit(await SetupCommand.command.run(rest))
case "version", "--version": Terminal.print("parley \(version)\n")
case nil, "help", "--help", "-h": Terminal.print(Help.overview)
case let command?:
  if let talk = TalkCommand.find(arguments) { exit(await talk.command.run(talk.rest)) }
  Terminal.complain("\"\(command)\" is not a command.")
  Terminal.complain(Help.overview)
  exit(2)
}
