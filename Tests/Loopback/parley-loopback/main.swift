// The program `parley`, for tests of outgoing requests: the daemon may also send them to one port of this machine.
//
//     parley-loopback PORT COMMAND [ARGUMENT ...]

import Glibc
import ParleyHTTPClient
import ParleyProgram
import ParleyWire

let arguments = Array(CommandLine.arguments.dropFirst())
guard let port = arguments.first.flatMap({ Int($0) }) else { exit(2) }
exit(
  await Invocation.run(
    Array(arguments.dropFirst()), outgoing: .alsoAllowing([(IPAddress(ipv4: 0x7f00_0001), port)])))
