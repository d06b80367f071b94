// `parley verify`: checks the integrity of the data folder and prints each check.

import Storage

extension Command {
  static let verify = Command(
    "verify", summary: "check the integrity of the data folder", settings: [.allFaults, .data, .config],
    help: Help.verify
  ) { arguments in VerifyCommand.run(arguments) }
}

enum VerifyCommand {
  static func run(_ arguments: [String]) -> Int32 {
    do {
      let checksAll = arguments.contains("--all")
      let settings = try Settings(
        arguments: arguments.filter { $0 != "--all" }, environment: Terminal.environment)
      let data = settings.dataFolder
      let bar = ProgressBar.onTerminal
      defer { bar?.clear() }
      let findings = try Verification(data).run(all: checksAll) { step in
        switch step {
        case .working(let check, let done, let total): bar?.show(Progress(check, done: done, of: total))
        case .finished(let finding):
          bar?.clear()
          Terminal.print(text(of: finding))
        }
      }
      return findings.allSatisfy(\.isSound) ? 0 : 1
    } catch let error as Settings.UsageError {
      Terminal.log(error.message)
    } catch {
      Terminal.log("\(error)")
    }
    return 2
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
