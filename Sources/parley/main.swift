import Glibc
import ParleyNetworking

Signals.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())

switch arguments.first {
case nil, "help", "--help", "-h": Terminal.print(Help.overview)
case "--version": Terminal.print("parley \(version)\n")
case let name?:
  guard let (command, rest) = Command.find(arguments) else {
    Terminal.log("\"\(name)\" is not a command.")
    Terminal.log(Help.overview)
    exit(2)
  }
  exit(await command.run(rest))
}
