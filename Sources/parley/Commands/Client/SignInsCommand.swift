import ParleyKit
import ParleyModel

extension Command {
  static let listSignIns = Command.client(
    "sign-ins", usage: "[--limit N] [--json]", summary: "list your sign-ins and failed attempts",
    description: """
      Lists the sign-ins to your account and the failed attempts of the last 90 days, the newest first: local time, result,
      method, device and network. * marks devices that were new.
      """,
    settings: [.limit, .json], operations: ["listSignIns"], run: SignInsCommand.run)
}

enum SignInsCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let page = try await session.client.send(.listSignIns(limit: try settings.limit()))
    if settings.isOn(.json) { return ClientOutput.lines(page.elements.map(\.representation)) }
    let style = Terminal.style
    for entry in page.elements.map(\.value) where !Terminal.print(line(entry, style)) { break }
    return Outcome(.success, "")
  }

  private static func line(_ entry: SignIn, _ style: TextStyle) -> String {
    [
      entry.isNewDevice ? "*" : " ", style.dim(Terminal.localTime(entry.createdAt)), style.bold(entry.result.rawValue),
      entry.method.rawValue, Terminal.plain(entry.device.isEmpty ? "-" : entry.device), entry.address ?? "-",
    ].joined(separator: "  ") + "\n"
  }
}
