// `parley backup FILE`: reads a data folder that is not in use itself; otherwise asks the daemon that has locked it.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

extension Command {
  static let backup = Command(
    "backup", operands: ["FILE"], summary: "copy the data folder to one file, also while the server runs",
    help: Help.backup, run: BackupCommand.run)
}

enum BackupCommand {
  static let path = "/backup"

  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "backup", [.data], operands: ["FILE"])
      let data = settings.text(.data) ?? "./data"
      outcome = try await create(try FileSystem.absolute(settings.operands[0]), of: data, bar)
    } catch {
      outcome = Outcome(.error, error.message)
    }
    bar.clear()
    return outcome.report()
  }

  private static func create(_ file: String, of data: String, _ bar: ProgressBar) async throws(Settings.UsageError)
    -> Outcome
  {
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    do throws(DataFolder.Fault) {
      let folder = try DataFolder(data)
      return await Interruption.during { interruption in
        outcome(file) { () throws(BackupFault) in
          try folder.backUp(to: file, program: version, at: Clock.wall() / 1_000_000) { progress throws(BackupFault) in
            if interruption.isRequested { throw .cancelled }
            bar.show(Progress(progress))
          }
        }
      }
    } catch {
      guard case .inUse = error else { throw Settings.UsageError(message: error.description) }
    }
    var json = JSONWriter()
    json.object { json in json.field("file", file) }
    return try await ControlClient(data: data).run(path, json.bytes, bar)
  }

  // MARK: In the daemon

  /// Decodes the path of the backup file from a request.
  static func file(_ request: Request) async throws(Problem) -> String {
    let bytes = try await request.body.collect()
    do {
      var object = try JSONValue(parsing: bytes).object()
      let file = try object.string("file")
      try object.finish()
      guard file.hasPrefix("/"), !file.utf8.contains(0) else {
        throw Problem.badRequest("The file must be an absolute path.")
      }
      return file
    } catch let problem as Problem {
      throw problem
    } catch {
      throw .badRequest("\(error)")
    }
  }

  static func create(_ file: String, of store: Store, onProgress: @escaping Progress.Report) async -> Outcome {
    do throws(BackupFault) {
      let report = try await store.backUp(to: file, program: version) { progress throws(BackupFault) in
        guard onProgress(Progress(progress)) else { throw .cancelled }
      }
      return outcome(of: report, file)
    } catch {
      return outcome(of: error)
    }
  }

  // MARK: Outcome

  private static func outcome(_ file: String, _ work: () throws(BackupFault) -> BackupReport) -> Outcome {
    do throws(BackupFault) { return outcome(of: try work(), file) } catch { return outcome(of: error) }
  }

  private static func outcome(of report: BackupReport, _ file: String) -> Outcome {
    let text =
      "\(file): \(Amount.bytes(report.size)), \(report.summary). Verified: pages, keys, chains, row counts and the "
      + "SHA-256 of every file."
    guard report.missing > 0 else { return Outcome(.success, text) }
    return Outcome(
      .failure, "\(text)\nBut \(report.missingMessage) in the data folder, so the backup does not contain them.")
  }

  static func outcome(of fault: BackupFault) -> Outcome {
    switch fault {
    case .refused, .damaged: Outcome(.failure, fault.description)
    case .impossible, .cancelled: Outcome(.error, fault.description)
    }
  }
}

extension BackupReport {
  var summary: String { "\(Amount.count(messages, "message")) and \(Amount.count(files, "file"))" }

  var missingMessage: String {
    let more = missing > firstMissing.count ? " and others" : ""
    return "\(Amount.count(missing, "file")) of the database (\(firstMissing.joined(separator: ", "))\(more)) "
      + "\(missing == 1 ? "is" : "are") missing or changed"
  }
}

extension Progress {
  init(_ progress: BackupProgress) { self.init(progress.phase.label, done: progress.done, of: progress.total) }
}

extension BackupProgress.Phase {
  fileprivate var label: String {
    switch self {
    case .copying: "copying the database"
    case .checking: "checking the copy"
    case .packing: "packing"
    case .comparing: "comparing the backup"
    case .verifying: "verifying the backup"
    case .unpacking: "unpacking"
    }
  }
}
