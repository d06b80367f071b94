import ParleyJSON

extension Command {
  static let manual = Command(
    "manual", operands: ["[PAGE]"], summary: "print a manual page",
    help: """
      parley manual [PAGE]

      Prints the manual page parley(1), or parley.conf(5), in the format of man: parley manual parley.conf | man -l -

      """
  ) { arguments in
    switch arguments {
    case [], ["parley"]: Terminal.print(ManualPage.text)
    case ["parley.conf"]: Terminal.print(ManualPage.settingsFile)
    default: return Outcome(.error, "The manual pages are parley and parley.conf.").report()
    }
    return Outcome.Status.success.rawValue
  }
}

/// The manual pages parley(1) and parley.conf(5), in the man macros of roff, from the tables of commands and settings.
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
      .B PARLEY_CONFIG
      The settings file of the server and of the operator's commands; none reads no file.
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
      .I \(SettingsFile.defaultPath)
      The settings of the server. See parley.conf(5).
      .TP
      .I ~/.config/parley/profile.json
      The server and the session of client commands; beside it the local cache with the outbox.

      """
    return page
  }

  static var settingsFile: String {
    """
    .TH PARLEY.CONF 5 "" "parley \(version)" "File Formats"
    .SH NAME
    parley.conf \\- settings of the parley server
    .SH SYNOPSIS
    .I \(SettingsFile.defaultPath)
    .SH DESCRIPTION
    Each line is \\fIname\\fR = \\fIvalue\\fR, without quotation marks. Empty lines and lines that begin with # are ignored.
    A repeatable setting may have several lines, or values separated by commas. A switch takes yes or no. A setting is also a
    flag of parley serve and an environment variable: public\\-url is \\-\\-public\\-url and PARLEY_PUBLIC_URL. A flag
    overrides a variable, and a variable overrides the file.
    .PP
    parley config prints all settings with their sources; parley config \\-\\-check FILE checks a file. After a change,
    SIGHUP applies the settings marked as reloadable, all limits and all rate limits. The others need a restart.
    .SH SETTINGS
    \(Setting.general.filter { $0.name != Setting.config.name }.map(entry).joined())\
    .SH LIMITS
    \(Setting.limits.map(entry).joined())\
    .SH RATE LIMITS
    \(Setting.rates.map(entry).joined())\
    .SH SEE ALSO
    parley(1)

    """
  }

  private static func entry(_ setting: Setting) -> String {
    let notes = Help.notes(of: setting, marksReloadable: true)
    return ".TP\n.B \"\(escaped("\(setting.name) = \(setting.value ?? "yes")"))\"\n"
      + "\(escaped("\(setting.summary)\(notes)"))\n"
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
