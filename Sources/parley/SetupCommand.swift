// `parley setup`: prints the link by which the first owner comes in.

import ParleyJSON

enum SetupCommand {
  static let command = HostCommand(name: "setup") { _, client in
    var answer = try await client.answer(.post, "/setup")
    return Outcome(.well, try answer.string("url"))
  }
}
