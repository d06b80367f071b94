import ParleyJSON

extension Command {
  static let setup = Command.control(
    "setup", summary: "print the setup link for the first owner of a new site", help: Help.setup
  ) { _, client in
    var response = try await client.response(.post, "/setup")
    return Outcome(.success, try response.string("url"))
  }
}
