// `parley backup FILE`: by itself where the data folder is at rest, else through the daemon that has it.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

enum BackupCommand {
  static let path = "/backup"

  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    do throws(Settings.Mistake) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "backup", [.data], operands: ["FILE"])
      let data = settings.text(.data) ?? "./data"
      outcome = try await make(try Folder.absolute(settings.operands[0]), of: data, bar)
    } catch {
      outcome = Outcome(.impossible, error.sentence)
    }
    bar.clear()
    return outcome.tell()
  }

  private static func make(_ file: String, of data: String, _ bar: ProgressBar) async throws(Settings.Mistake)
    -> Outcome
  {
    guard Folder.exists(data) else { throw Settings.Mistake(sentence: "There is no folder \(data). --data names it.") }
    do throws(DataFolder.Fault) {
      let folder = try DataFolder(data)
      return await Interruption.during { interruption in
        outcome(file) { () throws(BackupFault) in
          try folder.backUp(to: file, program: version, at: Clock.wall() / 1_000_000) { progress throws(BackupFault) in
            if interruption.hasCome { throw .stopped }
            bar.show(Progress(progress))
          }
        }
      }
    } catch {
      guard case .inUse = error else { throw Settings.Mistake(sentence: error.description) }
    }
    var json = JSONWriter()
    json.object { json in json.field("file", file) }
    return try await ControlClient(data: data).ask(path, json.bytes, bar)
  }

  // MARK: In the daemon

  /// The file that a request names.
  static func file(_ request: Request) async throws(Problem) -> String {
    let bytes = try await request.body.collect()
    do {
      var object = try JSONValue(parsing: bytes).object()
      let file = try object.string("file")
      try object.finish()
      guard file.hasPrefix("/"), !file.utf8.contains(0) else { throw Problem.badRequest("The file needs a full path.") }
      return file
    } catch let problem as Problem {
      throw problem
    } catch {
      throw .badRequest("\(error)")
    }
  }

  static func make(_ file: String, of store: Store, report: @escaping Progress.Report) async -> Outcome {
    do throws(BackupFault) {
      let made = try await store.backUp(to: file, program: version) { progress throws(BackupFault) in
        guard report(Progress(progress)) else { throw .stopped }
      }
      return outcome(of: made, file)
    } catch {
      return outcome(of: error)
    }
  }

  // MARK: How it went

  private static func outcome(_ file: String, _ work: () throws(BackupFault) -> BackupReport) -> Outcome {
    do throws(BackupFault) { return outcome(of: try work(), file) } catch { return outcome(of: error) }
  }

  private static func outcome(of report: BackupReport, _ file: String) -> Outcome {
    let text =
      "\(file): \(Amount.bytes(report.size)), \(report.summary). Opened again and checked: pages, keys, chains, row counts "
      + "and every file's SHA-256."
    guard report.missing > 0 else { return Outcome(.well, text) }
    return Outcome(
      .wrong, "\(text)\nBut \(report.missingSentence) in the data folder, so they are not in the backup either.")
  }

  static func outcome(of fault: BackupFault) -> Outcome {
    switch fault {
    case .refused, .unsound: Outcome(.wrong, fault.description)
    case .impossible, .stopped: Outcome(.impossible, fault.description)
    }
  }
}

extension BackupReport {
  var summary: String { "\(Amount.count(messages, "message")) and \(Amount.count(files, "file"))" }

  var missingSentence: String {
    let more = missing > firstMissing.count ? " and others" : ""
    return "\(Amount.count(missing, "file")) that the database names (\(firstMissing.joined(separator: ", "))\(more)) "
      + "\(missing == 1 ? "is" : "are") missing or changed"
  }
}

extension Progress {
  init(_ progress: BackupProgress) { self.init(progress.phase.words, done: progress.done, of: progress.total) }
}

extension BackupProgress.Phase {
  fileprivate var words: String {
    switch self {
    case .copying: "copying the database"
    case .checking: "checking the copy"
    case .packing: "packing"
    case .comparing: "reading it again"
    case .verifying: "verifying the backup"
    case .unpacking: "unpacking"
    }
  }
}
