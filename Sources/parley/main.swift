import Glibc
import ParleyNetworking

Signals.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())

switch arguments.first {
case nil, "help", "--help", "-h": Terminal.print(Help.overview)
case "--version": Terminal.print("parley \(version)\n")
case let name?:
  guard let (command, rest) = Command.find(arguments) else {
    let similar = Command.similar(to: name).map { " Did you mean \"\($0)\"?" } ?? ""
    Terminal.log("\"\(Terminal.plain(name))\" is not a command.\(similar)")
    Terminal.log("parley help lists all commands.")
    exit(2)
  }
  exit(Terminal.exitStatus(await command.run(rest)))
}
exit(Terminal.exitStatus(0))
