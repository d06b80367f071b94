import Glibc
import ParleyNetworking

Signals.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())

switch arguments.first {
case nil, "--help", "-h": Terminal.print(Help.overview)
case "--version": Terminal.print("parley \(version)\n")
case .some:
  guard let (command, rest) = Command.find(arguments) else {
    exit(Command.unknown(arguments).report())
  }
  exit(Terminal.exitStatus(await command.run(rest)))
}
exit(Terminal.exitStatus(0))
