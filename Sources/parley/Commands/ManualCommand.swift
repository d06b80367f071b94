extension Command {
  static let manual = Command(
    "manual", summary: "print the manual page",
    help: """
      parley manual

      Prints the manual page parley(1) in the format of man: parley manual | man -l -

      """
  ) { _ in
    Terminal.print(ManualPage.text)
    return Outcome.Status.success.rawValue
  }
}

/// The manual page parley(1), in the man macros of roff, from the table of commands.
enum ManualPage {
  static var text: String {
    var page = """
      .TH PARLEY 1 "" "parley \(version)" "User Commands"
      .SH NAME
      parley \\- chat and forum server, and its command line
      .SH SYNOPSIS
      .B parley
      .I COMMAND
      .RI [ ARGUMENT
      \\&...]
      .SH DESCRIPTION
      One program is the server, the tools of its operator and a client of any Parley server. Each option of a command
      follows it; arguments after \\fB\\-\\-\\fR may begin with a hyphen.

      """
    page += ".SH COMMANDS FOR THE OPERATOR\n" + Command.operatorCommands.map(section).joined()
    page += ".SH COMMANDS FOR USERS\n" + Command.clientCommands.map(section).joined()
    page += ".SH COMMANDS ABOUT THE PROGRAM\n" + Command.programCommands.map(section).joined()
    page += """
      .SH EXIT STATUS
      .TP
      .B 0
      Success.
      .TP
      .B 1
      The check failed, the server refused the request, or standard output was closed early.
      .TP
      .B 2
      The command could not run: invalid arguments, a system error, no connection.
      .SH ENVIRONMENT
      .TP
      .B PARLEY_PROFILE
      The profile file of client commands.
      .TP
      .B PARLEY_DATA
      The data folder of the operator's commands. Each setting of parley serve has a variable.
      .TP
      .B NO_COLOR
      Switches colours off.
      .TP
      .B TZ
      The time zone of printed times.
      .SH FILES
      .TP
      .I ~/.config/parley/profile.json
      The server and the session of client commands; beside it the local cache with the outbox.

      """
    return page
  }

  private static func section(_ command: Command) -> String {
    ".SS \"\(escaped("parley " + command.name))\"\n" + body(command.help)
  }

  /// Formats a help text: paragraphs, rows of options, and examples.
  static func body(_ help: String) -> String {
    var page = ""
    var isExample = false
    func endExample() {
      if isExample { page += ".EE\n" }
      isExample = false
    }
    for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
      let indented = line.prefix { $0 == " " }.count
      let text = line.drop { $0 == " " }
      if text.isEmpty {
        endExample()
        page += page.isEmpty || page.hasSuffix(".PP\n") ? "" : ".PP\n"
      } else if indented >= 4 || line.hasPrefix("parley ") {
        if !isExample { page += ".EX\n" }
        isExample = true
        page += escaped(String(indented >= 4 ? "    " + text : text)) + "\n"
      } else if indented == 2, text.hasPrefix("-"), let gap = text.firstRange(of: "  ") {
        endExample()
        let summary = text[gap.upperBound...].drop { $0 == " " }
        page += ".TP\n.B \"\(escaped(String(text[..<gap.lowerBound])))\"\n\(escaped(String(summary)))\n"
      } else {
        endExample()
        page += escaped(String(text)) + "\n"
      }
    }
    endExample()
    return page.hasSuffix(".PP\n") ? String(page.dropLast(4)) : page
  }

  /// Text of roff: hyphens are minus signs, and no line begins with a control character.
  private static func escaped(_ text: String) -> String {
    let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
    return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
  }
}
