// `parley backup FILE`: reads a data folder that is not in use itself; otherwise asks the daemon that has locked it.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

extension Command {
  static let backup = Command(
    "backup", operands: ["FILE"], summary: "copy the data folder to one file, also while the server runs",
    settings: [.json, .data, .config], help: Help.backup, run: BackupCommand.run)
}

enum BackupCommand {
  static let path = "/backup"
  /// The operand for standard output.
  private static let stream = "-"

  static func run(_ arguments: [String]) async -> Int32 {
    let bar = ProgressBar()
    let outcome: Outcome
    var isJSON = false
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "backup", [.json, .data, .config],
        operands: ["FILE"])
      let data = settings.dataFolder
      let file = settings.operands[0]
      guard file != stream || !settings.isOn(.json) else {
        throw Settings.UsageError(message: "Standard output has the backup. Name a file, or leave out --json.")
      }
      isJSON = settings.isOn(.json)
      outcome =
        file == stream
        ? try await writeStream(of: data, bar) : try await create(try FileSystem.absolute(file), of: data, bar)
      if file == stream {
        bar.clear()
        // Standard output has the backup.
        Terminal.log(outcome.printable)
        return outcome.status.rawValue
      }
    } catch {
      outcome = Outcome(.error, error.message)
    }
    bar.clear()
    return outcome.report(asJSON: isJSON)
  }

  private static func create(_ file: String, of data: String, _ bar: ProgressBar) async throws(Settings.UsageError)
    -> Outcome
  {
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    do throws(DataFolder.Fault) {
      let folder = try FileSystem.dataFolder(data)
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

  /// Writes the backup to standard output. A running daemon writes it to a named pipe.
  private static func writeStream(of data: String, _ bar: ProgressBar) async throws(Settings.UsageError) -> Outcome {
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    guard !Terminal.isOutputTerminal else {
      throw Settings.UsageError(message: "Standard output is a terminal. Redirect it to a file or a program.")
    }
    do throws(DataFolder.Fault) {
      let folder = try FileSystem.dataFolder(data)
      return await Interruption.during { interruption in
        outcome("standard output", isStream: true) { () throws(BackupFault) in
          try folder.backUp(to: stream, isStream: true, program: version, at: Clock.wall() / 1_000_000) {
            progress throws(BackupFault) in
            if interruption.isRequested { throw .cancelled }
            bar.show(Progress(progress))
          }
        }
      }
    } catch {
      guard case .inUse = error else { throw Settings.UsageError(message: error.description) }
    }
    let pipe = try NamedPipe(in: data)
    let copy = Task.detached { pipe.copyToOutput() }
    var json = JSONWriter()
    json.object { json in
      json.field("file", pipe.path)
      json.field("stream", true)
    }
    let result = try await ControlClient(data: data).run(path, json.bytes, bar)
    guard result.status != .error else { return result }
    guard await copy.value else { return Outcome(.error, "Standard output can't be written.") }
    return result
  }

  // MARK: In the daemon

  /// Decodes the path of the backup file, or of a named pipe, from a request.
  static func target(_ request: Request) async throws(Problem) -> (file: String, isStream: Bool) {
    let bytes = try await request.body.collect()
    do {
      var object = try JSONValue(parsing: bytes).object()
      let file = try object.string("file")
      let isStream: Bool = try object.optional("stream") ?? false
      try object.finish()
      guard file.hasPrefix("/"), !file.utf8.contains(0) else {
        throw Problem.badRequest("The file must be an absolute path.")
      }
      return (file, isStream)
    } catch let problem as Problem {
      throw problem
    } catch {
      throw .badRequest("\(error)")
    }
  }

  static func create(
    _ file: String, isStream: Bool, of store: Store, onProgress: @escaping Progress.Report
  ) async -> Outcome {
    do throws(BackupFault) {
      let report = try await store.backUp(to: file, isStream: isStream, program: version) {
        progress throws(BackupFault) in
        guard onProgress(Progress(progress)) else { throw .cancelled }
      }
      return outcome(of: report, isStream ? "standard output" : file, isStream: isStream)
    } catch {
      return outcome(of: error)
    }
  }

  // MARK: Outcome

  private static func outcome(
    _ file: String, isStream: Bool = false, _ work: () throws(BackupFault) -> BackupReport
  ) -> Outcome {
    do throws(BackupFault) {
      return outcome(of: try work(), file, isStream: isStream)
    } catch {
      return outcome(of: error)
    }
  }

  private static func outcome(of report: BackupReport, _ file: String, isStream: Bool) -> Outcome {
    let text =
      "\(file): \(Amount.bytes(report.size)), \(report.summary). Verified: pages, keys, chains, row counts and the "
      + "SHA-256 of every file\(isStream ? ", before they were written" : "")."
    guard report.missing > 0 else { return Outcome(.success, text) }
    return Outcome(
      .failure, "\(text)\nBut \(report.missingMessage) in the data folder, so the backup does not contain them.")
  }

  static func outcome(of fault: BackupFault) -> Outcome {
    switch fault {
    case .damaged: Outcome(.failure, fault.description)
    case .refused, .impossible, .cancelled: Outcome(.error, fault.description)
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
