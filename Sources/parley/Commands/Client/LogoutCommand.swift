import ParleyKit

extension Command {
  static let logout = Command.client(
    "logout", usage: "[--force] [--json]", summary: "sign out and delete the local cache",
    description: "Revokes the session at the server and deletes the profile and the local cache.",
    settings: [.force, .json],
    operations: ["revokeSession"], run: LogoutCommand.run)
}

enum LogoutCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    if !settings.isOn(.force), let unsent = try await session.unsent {
      return Outcome(.failure, "\(unsent) parley sync sends it; --force discards it.")
    }
    try FileSystem.remove(try CLISession.path(settings))
    try session.deleteCache()
    do throws(ClientFault) {
      try await session.client.send(.revokeSession("current"))
    } catch {
      guard error.isSignedOut else {
        return Outcome(
          .failure, "Signed out here, but the session was not revoked at the server: \(error.userMessage)")
      }
    }
    return ClientOutput.result(.object { _ in }, settings, "Signed out.")
  }
}

extension Setting {
  static let force = Setting(name: "force", value: nil, summary: "discard unsent operations", isFlagOnly: true)
}
