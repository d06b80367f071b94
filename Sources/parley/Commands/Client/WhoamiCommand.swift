import ParleyKit
import ParleyModel

extension Command {
  static let whoami = Command.client(
    "whoami", usage: "[--json]", summary: "print the signed-in user",
    description: "Prints the signed-in user and the server.",
    settings: [.json], operations: ["getUser"], run: WhoamiCommand.run)
}

enum WhoamiCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    func text(_ user: User) -> Outcome {
      Outcome(
        .success,
        "\(user.summary.name ?? "(no name)") at \(session.client.server) (\(user.summary.role.rawValue))")
    }
    do throws(ClientFault) {
      let user = try await session.client.send(.getUser(.me))
      return settings.isOn(.json) ? ClientOutput.lines([user.representation]) : text(user.value)
    } catch {
      guard error.isTemporary, let me = await (try session.parley)?.cache.replica.me else { throw error }
      ClientOutput.logCached(error)
      return settings.isOn(.json) ? ClientOutput.lines([ClientOutput.raw(me)]) : text(me)
    }
  }
}
