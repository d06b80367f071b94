import ParleyKit
import ParleyModel

extension Command {
  static let listIdentities = Command.client(
    "identities", usage: "[--limit N] [--json]", summary: "list your linked accounts",
    description: """
      Lists the accounts at sign-in services that are linked to yours, the oldest first: number, service, name there, last use.
      """,
    settings: [.limit, .json], operations: ["listIdentities"], run: IdentitiesCommand.list)

  static let unlinkIdentity = Command.client(
    "unlink-identity", usage: "IDENTITY [--json]", operands: ["IDENTITY"], summary: "unlink an account",
    description: """
      Unlinks the account with the number IDENTITY, as parley identities prints it: it no longer signs in, and other sessions that it
      opened end. Ten minutes after the sign-in the server asks for a proof: the first line of standard input is the
      password then, and the code of a user with two-step sign-in the second.
      """,
    settings: [.json], operations: ["unlinkIdentity", "proveSession"], run: IdentitiesCommand.unlink)
}

enum IdentitiesCommand {
  @Sendable static func list(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let page = try await session.client.send(.listIdentities(limit: try settings.limit()))
    if settings.isOn(.json) { return ClientOutput.lines(page.elements.map(\.representation)) }
    let style = Terminal.style
    for account in page.elements.map(\.value) where !Terminal.print(line(account, style)) { break }
    return Outcome(.success, "")
  }

  private static func line(_ account: Identity, _ style: TextStyle) -> String {
    [
      style.dim(account.id.description), style.bold(Terminal.plain(account.issuerName)), Terminal.plain(account.name),
      style.dim(account.lastUsedAt.map { Terminal.localTime($0) } ?? "never used"),
    ].joined(separator: "  ") + "\n"
  }

  @Sendable static func unlink(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    guard let id = ID<Identity>(settings.operands[0]) else {
      throw Settings.UsageError(message: "\"\(settings.operands[0])\" is not the number of a linked account.")
    }
    do throws(ClientFault) {
      try await session.client.send(.unlinkIdentity(id))
    } catch {
      guard let problem = error.problem, problem.code == "step_up_required" else { throw error }
      try await prove(session.client)
      try await session.client.send(.unlinkIdentity(id))
    }
    return ClientOutput.result(.object { _ in }, settings, "The account is not linked.")
  }

  /// Proves the session with the password, and with a code of the second factor if the server misses one.
  private static func prove(_ client: Client) async throws {
    guard let password = Terminal.secret("Password: "), !password.isEmpty else {
      throw Settings.UsageError(message: "Standard input contains no password.")
    }
    do throws(ClientFault) {
      try await client.send(.proveSession(password: password))
    } catch {
      guard error.problem?.errors.contains(where: { $0.field == "code" && $0.code == "missing" }) == true else {
        throw error
      }
      guard let code = Terminal.secret("Code of your authenticator app, or a recovery code: "), !code.isEmpty else {
        throw Settings.UsageError(message: "Standard input contains no code for the two-step sign-in.")
      }
      try await client.send(.proveSession(password: password, code: code))
    }
  }
}
