import Glibc
import ParleyProgram

exit(await Invocation.run(Array(CommandLine.arguments.dropFirst())))
