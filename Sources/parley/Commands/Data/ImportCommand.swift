// `parley import PATH --from PROGRAM`: imports the export of another program, through the daemon that has locked the data folder, or
// itself when no daemon runs.

import Community
import ParleyJSON
import ParleyModel
import Web

extension Command {
  static let `import` = Command(
    "import", operands: ["PATH"], summary: "import a community from Discord, Slack, Discourse or another site",
    settings: ImportCommand.settings, help: Help.import, run: ImportCommand.run)
}

enum ImportCommand {
  static let path = "/import"

  static let from = Setting(
    name: "from", value: "PROGRAM", summary: "discord, slack, discourse or parley", isFlagOnly: true)
  static let dryRun = Setting(
    name: "dry-run", value: nil, summary: "read and check everything, and change nothing", isFlagOnly: true)
  static let map = Setting(
    name: "map", value: "FILE",
    summary: "CSV of users of the source who have an account here: id, name or address, and name here",
    isFlagOnly: true)
  static let open = Setting(
    name: "open", value: "FILE", summary: "CSV of forums: title, and private, members or public", isFlagOnly: true)
  static let importer = Setting(
    name: "importer", value: "NAME", summary: "user who owns the new forums", fallback: "the owner of the site",
    isFlagOnly: true)
  static let settings = [from, dryRun, map, open, importer, .json, .data, .config, .share]

  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    var isJSON = false
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "import", settings, operands: ["PATH"])
      isJSON = settings.isOn(.json)
      let body = try body(of: settings)
      outcome = try await Command.withClient(settings) { client in try await client.run(path, body, bar) }
    } catch {
      outcome = Outcome(error)
    }
    bar.clear()
    return outcome.report(asJSON: isJSON)
  }

  /// The request to the daemon, which has another working directory.
  private static func body(of settings: Settings) throws(Settings.UsageError) -> [UInt8] {
    let programs = ImportOptions.programs.joined(separator: ", ")
    guard let program = settings.text(from) else {
      throw Settings.UsageError(message: "--from is required: \(programs).")
    }
    guard ImportOptions.programs.contains(program) else {
      let similar = Spelling.nearest(to: program, in: ImportOptions.programs).map { " Did you mean \($0)?" } ?? ""
      throw Settings.UsageError(message: "--from \(program) is none of \(programs).\(similar)")
    }
    let source = settings.operands[0]
    guard FileSystem.exists(source) else {
      throw Settings.UsageError(message: "There is no \(source). Name the file or the folder of the export.")
    }
    let users = try table(settings.text(map), "map") { name throws(Settings.UsageError) in
      UserName(name) == nil ? "\(name) is no name of a user" : nil
    }
    let forums = try table(settings.text(open), "open") { word throws(Settings.UsageError) in
      Visibility(rawValue: word) == nil ? "\(word) is none of private, members, public" : nil
    }
    let absolute = try FileSystem.absolute(source)
    var json = JSONWriter()
    json.object { json in
      json.field("from", program)
      json.field("path", absolute)
      json.field("dry_run", settings.isOn(dryRun))
      json.field("importer", settings.text(importer))
      json.object("users") { json in for (key, name) in users { json.field(key, name) } }
      json.object("forums") { json in for (title, word) in forums { json.field(title, word) } }
    }
    return json.bytes
  }

  /// A table of two columns. `check` returns the fault of a second value.
  private static func table(
    _ file: String?, _ name: String, _ check: (String) throws(Settings.UsageError) -> String?
  ) throws(Settings.UsageError) -> [(String, String)] {
    guard let file else { return [] }
    var rows: [(String, String)] = []
    var known: Set<String> = []
    for (number, line) in String(decoding: try FileSystem.read(file), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).enumerated() {
      let line = line.hasSuffix("\r") ? line.dropLast() : line
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      guard let cells = cells(of: line), cells.count >= 2 else {
        throw Settings.UsageError(
          message: "\(file):\(number + 1): a line of --\(name) has two values, separated by a comma.")
      }
      if number == 0, cells[1] == "visibility" || cells[1] == "user" { continue }
      if let fault = try check(cells[1]) { throw Settings.UsageError(message: "\(file):\(number + 1): \(fault).") }
      guard known.insert(cells[0]).inserted else {
        throw Settings.UsageError(message: "\(file):\(number + 1): \(cells[0]) is there twice. Remove one line.")
      }
      rows.append((cells[0], cells[1]))
    }
    return rows
  }

  /// The cells of a line of CSV (RFC 4180); nil if a quotation has no end.
  static func cells(of line: Substring) -> [String]? {
    var cells = [""]
    var isQuoted = false
    var rest = line
    while let character = rest.popFirst() {
      switch character {
      case "\"" where isQuoted && rest.first == "\"":
        cells[cells.count - 1].append("\"")
        rest = rest.dropFirst()
      case "\"" where isQuoted || cells[cells.count - 1].isEmpty: isQuoted.toggle()
      case "," where !isQuoted: cells.append("")
      default: cells[cells.count - 1].append(character)
      }
    }
    return isQuoted ? nil : cells
  }

  // MARK: In the daemon

  /// Decodes a request.
  static func options(_ request: Request) async throws(Problem) -> ImportOptions {
    let bytes = try await request.body.collect()
    do {
      var object = try JSONValue(parsing: bytes).object()
      let program = try object.string("from")
      let path = try object.string("path")
      guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw Problem.badRequest("The path must be absolute.") }
      guard var options = ImportOptions(from: program, path: path) else {
        throw Problem.badRequest("There is no import from \(program).")
      }
      options.isDryRun = try object.bool("dry_run")
      options.importer = try object.optional("importer")
      var users = try object.object("users")
      for (key, name) in users.members() { options.users[key] = try name.string() }
      var forums = try object.object("forums")
      for (title, word) in forums.members() { options.visibility[title] = Visibility(rawValue: try word.string()) }
      return options
    } catch let problem as Problem {
      throw problem
    } catch {
      throw .badRequest("\(error)")
    }
  }

  static func perform(
    _ options: ImportOptions, in community: Community, onProgress: @escaping Progress.Report
  ) async -> Outcome {
    do {
      let report = try await community.importSource(options) { phase, done, total in
        onProgress(Progress(phase, done: done, of: total))
      }
      guard let report else {
        return Outcome(.failure, "The import was interrupted. Run the same command again: it continues.")
      }
      return Outcome(.success, text(of: report, isDryRun: options.isDryRun))
    } catch {
      return Outcome(.error, "\(error)")
    }
  }

  // MARK: Report

  /// Forums that the report lists. The outcome of a command is one line of the control socket.
  private static let maxForums = 300

  private static func text(of report: ImportReport, isDryRun: Bool) -> String {
    var lines = ["Read: \(counts(report.read))."]
    lines.append(isDryRun ? "Nothing was changed." : "New: \(counts(report.made)).")
    if !report.leftOut.isEmpty {
      lines.append("Left out:")
      lines += report.leftOut.sorted { $0.key < $1.key }.map { "  \(Amount.grouped($0.value)) \($0.key)" }
    }
    guard !report.forums.isEmpty else { return lines.joined(separator: "\n") }
    lines.append("Forums, as a table for --open:")
    for forum in report.forums.prefix(maxForums) { lines.append("\(cell(forum.title)),\(forum.visibility.rawValue)") }
    if report.forums.count > maxForums {
      lines.append("and \(Amount.count(report.forums.count - maxForums, "further forum")).")
    }
    return lines.joined(separator: "\n")
  }

  private static func cell(_ text: String) -> String {
    text.contains { $0 == "," || $0 == "\"" } || text.hasPrefix("#")
      ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
  }

  private static func counts(_ counts: ImportReport.Counts) -> String {
    let parts = [
      (counts.users, "user"), (counts.groups, "group"), (counts.emoji, "custom emoji"), (counts.forums, "forum"),
      (counts.topics, "topic"), (counts.conversations, "conversation"), (counts.messages, "message"),
      (counts.files, "file"),
    ].filter { $0.0 > 0 }
    guard !parts.isEmpty else { return "nothing" }
    return parts.map { Amount.count($0.0, $0.1, $0.1 == "custom emoji" ? $0.1 : nil) }.joined(separator: ", ")
  }
}
