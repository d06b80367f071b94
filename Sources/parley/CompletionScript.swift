import ParleyJSON

/// Completion scripts for shells, from the table of commands.
enum CompletionScript {
  static func script(for shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  /// The values of an operand or of a setting.
  private enum Values {
    case none, files
    case words([String])
    /// `parley complete-titles` prints them.
    case titles(String)

    /// - Parameter placeholder: of an operand or value, such as `FILE`.
    init(_ placeholder: String) {
      switch placeholder {
      case "FILE", "FOLDER", "BACKUP", "PATH": self = .files
      case "FORUM": self = .titles("forums")
      case "CONVERSATION": self = .titles("conversations")
      case "SHELL": self = .words(["bash", "zsh", "fish"])
      case "ROLE": self = .words(["owner", "admin", "moderator", "member", "bot", "guest"])
      case "SCOPE": self = .words(["read", "write", "admin"])
      case "METHOD": self = .words(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
      case "[PAGE]": self = .words(["parley", "parley.conf"])
      case "FILTER": self = .words(["new", "unread", "mine", "solved", "unsolved"])
      case "ACTION": self = .words(["like", "star", "repost", "pin"])
      case "[COMMAND]":
        self = .words(
          Command.listed.map(\.words[0]).reduce(into: []) { all, word in
            if !all.contains(word) { all.append(word) }
          })
      default: self = .none
      }
    }
  }

  // MARK: The table

  /// The commands that complete, by their first word.
  private static var commands: [Command] { Command.all.filter { $0.name != "complete-titles" } }

  private static var firstWords: [String] {
    var words: [String] = []
    for command in Command.listed where !words.contains(command.words[0]) { words.append(command.words[0]) }
    return words
  }

  private static func flags(of command: Command) -> [String] {
    command.settings.map(\.flag) + command.settings.compactMap(\.letter).map { "-\($0)" } + ["--help"]
  }

  /// The commands of one word that other commands continue, and the further words.
  private static var groups: [(word: String, words: [String])] {
    firstWords.map { ($0, Command.names(below: $0)) }.filter { !$0.words.isEmpty }
  }

  /// Settings with a value, each once.
  private static var valued: [(setting: Setting, values: Values)] {
    var seen: Set<String> = []
    return commands.flatMap(\.settings).compactMap { setting in
      guard let value = setting.value, seen.insert(setting.name).inserted else { return nil }
      return (setting, Values(value))
    }
  }

  // MARK: bash

  private static var bash: String {
    """
    # bash completion for parley; from `parley completions bash`.
    _parley_titles() {
      local word="$1" title quoted
      # The typed word may have an open quote or escaped spaces.
      case "$word" in \\"*|\\'*) quoted=1; word="${word:1}" ;; *) quoted=; word="${word//\\\\/}" ;; esac
      while IFS= read -r title; do
        [[ "${title,,}" == "${word,,}"* ]] || continue
        if [ -n "$quoted" ]; then COMPREPLY+=("$title"); else COMPREPLY+=("$(printf %q "$title")"); fi
      done < <(command parley complete-titles "$2" 2>/dev/null)
    }
    _parley() {
      local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
      local name="${COMP_WORDS[1]}" index operand=0 first=2
      COMPREPLY=()
      if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "\(firstWords.joined(separator: " ")) --help --version" -- "$word"))
        return
      fi
      case "$name ${COMP_WORDS[2]}" in
    \(subcommandCases.map { "    \"\($0)\") [ \"$COMP_CWORD\" -gt 2 ] && { name=\"\($0)\"; first=3; } ;;" }.joined(separator: "\n"))
      esac
      case "$previous" in
    \(valued.map { "    \(pattern($0.setting))) \(bashWords($0.values)); return ;;" }.joined(separator: "\n"))
      esac
      if [[ "$word" != -* ]]; then
        for ((index = first; index < COMP_CWORD; index++)); do
          case "${COMP_WORDS[index]}" in
            \(valued.map { pattern($0.setting) }.joined(separator: "|"))) ((index++)) ;;
            -?*) ;;
            *) ((operand++)) ;;
          esac
        done
        case "$name $operand" in
    \(operandCases { "\(bashWords($0)); return" })
        esac
      fi
      case "$name" in
    \(commands.map { "    \"\($0.name)\") COMPREPLY+=($(compgen -W \"\(flags(of: $0).joined(separator: " "))\" -- \"$word\")) ;;" }.joined(separator: "\n"))
      esac
    }
    complete -F _parley parley
    """
  }

  private static var subcommandCases: [String] { commands.filter { $0.words.count > 1 }.map(\.name) }

  /// The names of a setting as a pattern of `case`.
  private static func pattern(_ setting: Setting) -> String {
    ([setting.flag] + (setting.letter.map { ["-\($0)"] } ?? [])).joined(separator: "|")
  }

  /// The operands of all commands, as branches of a `case` of name and position.
  private static func operandCases(_ branch: (Values) -> String) -> String {
    var lines = groups.map { group in "      \"\(group.word) 0\") \(branch(.words(group.words))) ;;" }
    for command in commands {
      for (index, operand) in command.operands.enumerated() {
        let values = Values(operand)
        if case .none = values { continue }
        lines.append("      \"\(command.name) \(index)\") \(branch(values)) ;;")
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func bashWords(_ values: Values) -> String {
    switch values {
    case .none: "COMPREPLY=()"
    case .files: "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$word\")"
    case .words(let words): "COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$word\"))"
    case .titles(let kind): "_parley_titles \"$word\" \(kind)"
    }
  }

  // MARK: zsh

  private static var zsh: String {
    """
    #compdef parley
    # zsh completion for parley; from `parley completions zsh`.
    _parley_titles() { compadd -M 'm:{a-zA-Z}={A-Za-z}' -- ${(f)"$(command parley complete-titles $1 2>/dev/null)"} }
    _parley() {
      local name="$words[2]" index operand=0 first=3
      if (( CURRENT == 2 )); then
        local -a commands=(
    \(Command.listed.filter { $0.words.count == 1 }.map { "      '\($0.name):\(escaped($0.summary))'" }.joined(separator: "\n"))
        )
        _describe command commands
        return
      fi
      case "$name $words[3]" in
    \(subcommandCases.map { "    \"\($0)\") (( CURRENT > 3 )) && { name=\"\($0)\"; first=4 } ;;" }.joined(separator: "\n"))
      esac
      case "$words[CURRENT-1]" in
    \(valued.map { "    \(pattern($0.setting))) \(zshWords($0.values)); return ;;" }.joined(separator: "\n"))
      esac
      if [[ "$words[CURRENT]" != -* ]]; then
        for ((index = first; index < CURRENT; index++)); do
          case "$words[index]" in
            \(valued.map { pattern($0.setting) }.joined(separator: "|"))) ((index++)) ;;
            -?*) ;;
            *) ((operand++)) ;;
          esac
        done
        case "$name $operand" in
    \(operandCases { "\(zshWords($0)); return" })
        esac
      fi
      case "$name" in
    \(commands.map { "    \"\($0.name)\") compadd -- \(flags(of: $0).joined(separator: " ")) ;;" }.joined(separator: "\n"))
      esac
    }
    if [ "$funcstack[1]" = _parley ]; then _parley "$@"; else compdef _parley parley; fi
    """
  }

  private static func zshWords(_ values: Values) -> String {
    switch values {
    case .none: "_message 'a value'"
    case .files: "_files"
    case .words(let words): "compadd -- \(words.joined(separator: " "))"
    case .titles(let kind): "_parley_titles \(kind)"
    }
  }

  /// A summary inside single quotes, where `:` ends the name.
  private static func escaped(_ text: String) -> String {
    text.replacing("'", with: "'\\''").replacing(":", with: "\\:")
  }

  // MARK: fish

  private static var fish: String {
    var lines = [
      "# fish completion for parley; from `parley completions fish`.",
      """
      # The position of the operand that is being typed, if the command line begins with the words $argv.
      function __parley_operand
          set -l tokens (commandline -opc)
          set -e tokens[1]
          for word in $argv
              test "$tokens[1]" = "$word"; or return 1
              set -e tokens[1]
          end
          set -l count 0
          set -l skips 0
          for token in $tokens
              if test $skips = 1
                  set skips 0
              else if contains -- $token \(valued.map { pattern($0.setting).replacing("|", with: " ") }.joined(separator: " "))
                  set skips 1
              else if not string match -q -- '-?*' $token
                  set count (math $count + 1)
              end
          end
          echo $count
      end
      function __parley_at
          set -l position (__parley_operand $argv[2..]); and test "$position" = "$argv[1]"
      end
      """,
      "complete -c parley -f",
    ]
    for command in Command.listed where command.words.count == 1 {
      lines.append(
        "complete -c parley -n '__parley_at 0' -a \(command.name) -d '\(command.summary.replacing("'", with: "\\'"))'")
    }
    for group in groups {
      lines.append("complete -c parley -n '__parley_at 0 \(group.word)' -a '\(group.words.joined(separator: " "))'")
    }
    for command in commands {
      for (index, operand) in command.operands.enumerated() {
        guard let words = fishWords(Values(operand)) else { continue }
        lines.append("complete -c parley -n '__parley_at \(index) \(command.name)' \(words)")
      }
      for setting in command.settings {
        var line = "complete -c parley -n '__parley_operand \(command.name) >/dev/null' -l \(setting.name)"
        if let letter = setting.letter { line += " -s \(letter)" }
        if let value = setting.value { line += " -r " + (fishWords(Values(value)) ?? "") }
        lines.append(line + " -d '\(setting.summary.replacing("'", with: "\\'"))'")
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func fishWords(_ values: Values) -> String? {
    switch values {
    case .none: nil
    case .files: "-F"
    case .words(let words): "-a '\(words.joined(separator: " "))'"
    case .titles(let kind): "-a '(command parley complete-titles \(kind) 2>/dev/null)'"
    }
  }
}
