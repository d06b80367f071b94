import ParleyKit

extension Command {
  static let completions = Command.client(
    "completions", usage: "SHELL", operands: ["SHELL"], summary: "print a completion script for bash, zsh or fish",
    description: "Prints a completion script for bash, zsh or fish."
  ) { settings in
    guard let script = CompletionsCommand.script(for: settings.operands[0]) else {
      throw Settings.UsageError(message: "Completions exist for bash, zsh and fish.")
    }
    return Outcome(.success, script)
  }
}

/// Shell completions of the commands and their flags.
enum CompletionsCommand {
  private static var names: [String] { Command.operatorCommands.map(\.name) + commands.map(\.name) + Command.programCommands.map(\.name) }

  /// Client commands of one word. A second word completes like a flag.
  private static var commands: [Command] { Command.clientCommands.filter { $0.words.count == 1 } }

  static func script(for shell: String) -> String? {
    let words = names.joined(separator: " ")
    switch shell {
    case "bash":
      return """
        _parley() {
          local word="${COMP_WORDS[COMP_CWORD]}"
          if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "\(words)" -- "$word")); return; fi
          case "${COMP_WORDS[1]}" in
        \(flags.map { "    \($0.name)) COMPREPLY=($(compgen -f -W \"\($0.flags)\" -- \"$word\")) ;;" }.joined(separator: "\n"))
          esac
        }
        complete -F _parley parley
        """
    case "zsh":
      return """
        #compdef parley
        _parley() {
          if (( CURRENT == 2 )); then compadd \(words); return; fi
          case "$words[2]" in
        \(flags.map { "    \($0.name)) compadd -- \($0.flags); _files ;;" }.joined(separator: "\n"))
          esac
        }
        compdef _parley parley
        """
    case "fish":
      let commands = commands.map { command in
        command.settings.map { "complete -c parley -n '__fish_seen_subcommand_from \(command.name)' -l \($0.name)" }
          .joined(separator: "\n")
      }
      return "complete -c parley -n __fish_use_subcommand -f -a '\(words)'\n"
        + commands.filter { !$0.isEmpty }.joined(separator: "\n")
    default: return nil
    }
  }

  private static var flags: [(name: String, flags: String)] {
    commands.map { command in
      let subcommands = Command.clientCommands.filter { $0.words.count > 1 && $0.words.first == command.name }
        .map { $0.words[1] }
      return (
        command.name, (subcommands + command.settings.map(\.flag)).joined(separator: " ")
      )
    }
  }
}
