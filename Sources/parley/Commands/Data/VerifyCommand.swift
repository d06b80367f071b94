// `parley verify`: checks the integrity of the data folder and prints each check.

import ParleyCrypto
import ParleyJSON
import ParleyModel
import Storage

extension Command {
  static let verify = Command(
    "verify", summary: "check the integrity of the data folder", settings: VerifyCommand.settings,
    help: Help.verify
  ) { arguments in VerifyCommand.run(arguments) }
}

enum VerifyCommand {
  private static let checkpoint = Setting(
    name: "checkpoint", value: "FILE", summary: "compare the history with signed checkpoints", isFlagOnly: true)
  static let settings: [Setting] = [.allFaults, checkpoint, .json, .data, .config]

  static func run(_ arguments: [String]) -> Int32 {
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "verify", VerifyCommand.settings)
      let (isJSON, data) = (settings.isOn(.json), settings.dataFolder)
      let checkpoints = try settings.text(checkpoint).map { try self.checkpoints(in: $0, data) } ?? []
      let bar = ProgressBar.onTerminal
      defer { bar?.clear() }
      let findings = try Verification(data).run(all: settings.isOn(.allFaults), comparing: checkpoints) { step in
        switch step {
        case .working(let check, let done, let total): bar?.show(Progress(check, done: done, of: total))
        case .finished(let finding):
          bar?.clear()
          if !isJSON { Terminal.print(text(of: finding)) }
        }
      }
      let faults = findings.filter { !$0.isSound }
      let outcome = Outcome(
        faults.isEmpty ? .success : .failure,
        faults.isEmpty ? "no faults" : "faults in \(faults.map(\.check).joined(separator: ", "))")
      guard isJSON else { return outcome.status.rawValue }
      bar?.clear()
      return outcome.reportJSON { json in
        json.array("checks") { json in for finding in findings { write(finding, to: &json) } }
      }
    } catch let error as Settings.UsageError {
      Terminal.log(error.message)
    } catch {
      Terminal.log("\(error)")
    }
    return 2
  }

  /// The checkpoints of a file: one JSON object, or one a line. One that the site has not signed proves nothing.
  private static func checkpoints(in file: String, _ data: String) throws -> [Checkpoint] {
    guard let key = try SiteKey.read(data) else {
      throw Settings.UsageError(message: "\(data) has no site.key to compare \(file) with. See parley key --help.")
    }
    let text = try FileSystem.read(file)
    let checkpoints: [Checkpoint]
    do {
      let objects =
        if let whole = try? JSONValue(parsing: text) { [whole] } else {
          try text.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: Array($0)) }
        }
      checkpoints = try objects.map { try Checkpoint(json: $0) }
    } catch {
      throw Settings.UsageError(message: "\(file) has text that is not a checkpoint: \(error)")
    }
    guard !checkpoints.isEmpty else { throw Settings.UsageError(message: "\(file) has no checkpoint.") }
    for checkpoint in checkpoints {
      let name = "The checkpoint of conversation \(checkpoint.conversation) in \(file)"
      guard checkpoint.isSigned else { throw Settings.UsageError(message: "\(name) has a wrong signature.") }
      guard checkpoint.key == Hex.text(key.point) else {
        throw Settings.UsageError(
          message: "\(name) is signed with the key \(checkpoint.key). The key of this site is \(Hex.text(key.point)).")
      }
    }
    return checkpoints
  }

  private static func write(_ finding: Verification.Finding, to json: inout JSONWriter) {
    json.object { json in
      json.field("check", finding.check)
      json.field("sound", finding.isSound)
      json.array("counts") { json in
        for count in finding.counts {
          json.object { json in
            json.field("what", count.what)
            json.field("number", count.number)
          }
        }
      }
      json.field("fault_count", finding.faultCount)
      json.field("faults", finding.faults)
    }
  }

  /// One line for the check, and one for each fault that the finding lists.
  private static func text(of finding: Verification.Finding) -> String {
    let counts = finding.counts.map { "\(Amount.grouped($0.number)) \($0.what)" }.joined(separator: ", ")
    guard !finding.isSound else { return "✓ \(finding.check): \(counts)\n" }
    var lines = [
      "✗ \(finding.check): \(Amount.count(finding.faultCount, "fault")). Expected: \(finding.proves)."
    ]
    lines += finding.faults.map { "  \($0)" }
    let unlisted = finding.faultCount - finding.faults.count
    if unlisted > 0 { lines.append("  and \(Amount.grouped(unlisted)) more") }
    return lines.joined(separator: "\n") + "\n"
  }
}
