import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let login = Command.client(
    "login", usage: "SERVER NAME [--fingerprint SHA256] [--force] [--json]", operands: ["SERVER", "NAME"],
    summary: "sign in to a server",
    description:
      "Signs in and stores the session. The password is the first line of standard input, and the code of a\n"
      + "user with two-step sign-in the second.",
    settings: [LoginCommand.fingerprint, .force, .json], operations: ["signIn", "confirmSignIn"], run: LoginCommand.run)
}

enum LoginCommand {
  fileprivate static let fingerprint = Setting(
    name: "fingerprint", value: "SHA256", summary: "pin the server's self-signed certificate", isFlagOnly: true)

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let (server, name) = (settings.operands[0], settings.operands[1])
    let client = try CLISession.client(server, token: nil, fingerprint: settings.text(fingerprint))
    guard let password = Terminal.secret("Password: "), !password.isEmpty else {
      throw Settings.UsageError(message: "Standard input contains no password.")
    }
    let path = try CLISession.path(settings)
    let answer: Resource<SignInResult>
    do throws(ClientFault) {
      answer = try await client.send(
        Request<Resource<SignInResult>>.signIn(name, password: password, device: "parley").unauthenticated())
    } catch {
      if let challenge = SignInChallenge(error) {
        return try await confirm(challenge, settings, client, path)
      }
      if error.isSignedOut {
        return Outcome(.failure, "\(client.server) rejected the user name or password.")
      }
      guard case .untrusted = error else { throw error }
      return Outcome(
        .error,
        "\(error.userMessage) Pin its certificate with --fingerprint SHA256. An address without TLS begins with http://."
      )
    }
    return try await keep(answer, settings, client, path)
  }

  /// The second step of a user with two-step sign-in.
  private static func confirm(
    _ challenge: SignInChallenge, _ settings: Settings, _ client: Client, _ path: String
  ) async throws -> Outcome {
    guard let code = Terminal.secret("Code of your authenticator app, or a recovery code: "), !code.isEmpty else {
      throw Settings.UsageError(message: "Standard input contains no code for the two-step sign-in.")
    }
    let answer: Resource<SignInResult>
    do throws(ClientFault) {
      answer = try await client.send(
        Request<Resource<SignInResult>>.confirmSignIn(challenge.text, code: code, device: "parley").unauthenticated())
    } catch {
      guard let fault = error.problem?.errors.first, fault.field == "code" else { throw error }
      switch fault.code {
      case "used": return Outcome(.failure, "\(client.server) has seen this code before. Wait for the next one.")
      case "none_left": return Outcome(.failure, "No recovery code is left. Ask an admin of \(client.server).")
      case "clock_off": return Outcome(.failure, "This code is of another time. Check the clock of your phone.")
      default: return Outcome(.failure, "\(client.server) rejected the code.")
      }
    }
    return try await keep(answer, settings, client, path)
  }

  private static func keep(
    _ answer: Resource<SignInResult>, _ settings: Settings, _ client: Client, _ path: String
  ) async throws -> Outcome {
    guard let token = answer.token else {
      throw ClientFault.invalidResponse("a session without a token")
    }
    client.token = token
    do {
      let user = ClientOutput.raw(answer.user)
      return try await keep(token, of: answer.user.summary.id, user, settings, client, path)
    } catch {
      // The session is not stored on this machine, so it would stay unused.
      _ = try? await client.send(.revokeSession("current"))
      throw error
    }
  }

  private static func keep(
    _ token: String, of user: ID<User>, _ json: JSONRaw, _ settings: Settings, _ client: Client, _ path: String
  ) async throws -> Outcome {
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try FileSystem.makeFolder(String(path[..<slash]))
    }
    let profile = CLISession.Profile(
      server: client.server.origin, token: token, fingerprint: settings.text(fingerprint),
      user: user.description)
    let force = settings.isOn(.force)
    if let unsent = try await CLISession.deleteCache(before: profile, at: path, force: force) {
      try await client.send(.revokeSession("current"))
      return Outcome(.failure, "\(unsent) The previous user can send it; --force discards it.")
    }
    try FileSystem.write(profile.bytes, to: path)
    return ClientOutput.result(json, settings, "Signed in at \(client.server) as \(settings.operands[1]).")
  }
}
