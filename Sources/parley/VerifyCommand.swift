// `parley verify`: proves that the data folder is whole, and says what was looked at.

import Storage

enum VerifyCommand {
  static func run(_ arguments: [String]) -> Int32 {
    do {
      let isThorough = arguments.contains("--all")
      let settings = try Settings(
        arguments: arguments.filter { $0 != "--all" }, environment: Terminal.environment)
      let data = settings.text(.data) ?? "./data"
      let bar = ProgressBar.onTerminal
      defer { bar?.clear() }
      let findings = try Verification(data).run(all: isThorough) { step in
        switch step {
        case .working(let check, let done, let total): bar?.show(Progress(check, done: done, of: total))
        case .finished(let finding):
          bar?.clear()
          Terminal.print(text(of: finding))
        }
      }
      return findings.allSatisfy(\.isSound) ? 0 : 1
    } catch let mistake as Settings.Mistake {
      Terminal.complain(mistake.sentence)
    } catch {
      Terminal.complain("\(error)")
    }
    return 2
  }

  /// One line, and one more for each fault that is named.
  private static func text(of finding: Verification.Finding) -> String {
    let counts = finding.counts.map { "\(Amount.grouped($0.number)) \($0.what)" }.joined(separator: ", ")
    guard !finding.isSound else { return "✓ \(finding.check): \(counts)\n" }
    var lines = [
      "✗ \(finding.check): \(Amount.count(finding.faultCount, "fault")). It should be so that \(finding.proves)."
    ]
    lines += finding.faults.map { "  \($0)" }
    let unnamed = finding.faultCount - finding.faults.count
    if unnamed > 0 { lines.append("  and \(Amount.grouped(unnamed)) more") }
    return lines.joined(separator: "\n") + "\n"
  }
}
