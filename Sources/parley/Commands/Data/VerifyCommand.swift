// `parley verify`: checks the integrity of the data folder and prints each check.

import ParleyJSON
import Storage

extension Command {
  static let verify = Command(
    "verify", summary: "check the integrity of the data folder", settings: [.allFaults, .json, .data, .config],
    help: Help.verify
  ) { arguments in VerifyCommand.run(arguments) }
}

enum VerifyCommand {
  static func run(_ arguments: [String]) -> Int32 {
    do {
      let checksAll = arguments.contains("--all")
      let isJSON = arguments.contains(Setting.json.flag)
      let settings = try Settings(
        arguments: arguments.filter { !["--all", Setting.json.flag].contains($0) }, environment: Terminal.environment)
      let data = settings.dataFolder
      let bar = ProgressBar.onTerminal
      defer { bar?.clear() }
      let findings = try Verification(data).run(all: checksAll) { step in
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
