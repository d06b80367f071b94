/// What shells need to complete commands and their flags.
enum Completions {
  private static let host = [
    "serve", "backup", "restore", "verify", "purge", "migrate", "health", "setup", "user", "invite", "token", "tail",
    "version",
  ]

  private static var names: [String] { host + commands.map(\.name) }

  /// By their first word: what a second one may be stands among the flags.
  private static var commands: [TalkCommand] { TalkCommand.all.filter { $0.words.count == 1 } }

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
      let seconds = TalkCommand.all.filter { $0.words.count > 1 && $0.words.first == command.name }.map { $0.words[1] }
      return (command.name, (seconds + (command.settings + [Desk.profile]).map(\.flag)).joined(separator: " "))
    }
  }
}
