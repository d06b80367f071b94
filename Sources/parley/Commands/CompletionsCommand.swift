import ParleyKit

extension Command {
  static let completions = Command(
    "completions", operands: ["SHELL"], summary: "print a completion script for bash, zsh or fish",
    help: """
      parley completions SHELL

      Prints a completion script for bash, zsh or fish: commands, options, files, and the titles of forums and
      conversations, from the local cache or the server.

          bash: parley completions bash > ~/.local/share/bash-completion/completions/parley
          zsh:  parley completions zsh > ~/.zfunc/_parley        (with fpath+=~/.zfunc before compinit)
          fish: parley completions fish > ~/.config/fish/completions/parley.fish

      """
  ) { arguments in
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: [:], of: "completions", [], operands: ["SHELL"])
      guard let script = CompletionScript.script(for: settings.operands[0]) else {
        throw Settings.UsageError(message: "Completions exist for bash, zsh and fish.")
      }
      return Outcome(.success, script).report()
    } catch {
      return Outcome(.error, error.message).report()
    }
  }

  /// For the completion scripts: prints titles and no errors.
  static let completeTitles = Command.client(
    "complete-titles", usage: "forums|conversations", operands: ["KIND"], summary: "print titles for completions",
    description: "Prints the titles of the forums, or of forums and conversations, for the completion scripts.",
    run: TitleCompletion.run)
}

/// The titles that complete an argument.
enum TitleCompletion {
  /// Seconds that the shell may wait for the server.
  private static let timeout = 2

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let isForumsOnly = settings.operands[0] == "forums"
    guard try CLISession.isSignedIn(settings) else { return Outcome(.success, "") }
    let session = try CLISession(settings)
    var titles = try await cached(session, isForumsOnly)
    if titles.isEmpty { titles = await requested(session, isForumsOnly) }
    var seen: Set<String> = []
    let unique = titles.map(Terminal.plain).filter { !$0.isEmpty && seen.insert($0).inserted }
    return Outcome(.success, unique.joined(separator: "\n"))
  }

  private static func cached(_ session: CLISession, _ isForumsOnly: Bool) async throws -> [String] {
    guard let parley = try session.parley else { return [] }
    let forums = await parley.cache.replica.forums.values.map(\.forum).sorted { $0.activity > $1.activity }
    guard !isForumsOnly, !forums.isEmpty else { return forums.map(\.title) }
    return forums.map(\.title) + (try await parley.cache.ownConversations().compactMap(\.conversation.title))
  }

  private static func requested(_ session: CLISession, _ isForumsOnly: Bool) async -> [String] {
    let request = Task { () -> [String] in
      var titles = try await session.client.send(.listForums(limit: 100)).elements.map(\.forum.title)
      if !isForumsOnly {
        titles += try await session.client.send(.listConversations(limit: 100)).elements.compactMap(
          \.conversation.title)
      }
      return titles
    }
    let timer = Task {
      try await Task.sleep(for: .seconds(timeout))
      request.cancel()
    }
    defer { timer.cancel() }
    do { return try await request.value } catch { return [] }
  }
}
