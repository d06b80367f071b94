import ParleyNetworking
import Synchronization

/// Events without a lasting state: a step of the clock, an unclean shutdown and a restore. Each is a finding for 24 hours.
final class MachineEvents: Sendable {
  private struct State {
    var findings: [(finding: Finding, until: Int64)] = []
    /// The wall clock minus the monotonic one, in milliseconds.
    var offset: Int64?
  }

  private let state = Mutex(State())
  private let marker: String

  /// A smaller step is an adjustment, in milliseconds.
  private static let minStep: Int64 = 60_000
  private static let day: Int64 = 86_400_000

  /// - Parameter data: the data folder, which this process has locked. It holds a file while a daemon runs.
  init(data: String) { marker = "\(data)/running" }

  /// Notes the start of the daemon.
  func start(now: Int64) {
    if FileSystem.exists(marker) {
      let sentence =
        "The server was not stopped cleanly before its start on \(Terminal.localTime(now)): the machine lost power, or the "
        + "process was killed. All acknowledged messages are stored. The reason may be in the log: journalctl --unit parley."
      add(.warning(.uncleanStop, sentence), now)
    }
    try? FileSystem.write([], to: marker)
  }

  /// Notes a restore of the site.
  func restored(_ report: String, at time: Int64) {
    let sentence =
      "The site was restored from a backup. \(report) Repeat the changes of settings, memberships and removals that are "
      + "missing."
    state.withLock { $0.findings.append((.warning(.restored, sentence), time + Self.day)) }
  }

  /// Notes a clean stop.
  func stop() { try? FileSystem.remove(marker) }

  /// Compares the two clocks.
  func examineClock(wall: Int64, monotonic: Int64) {
    let offset = wall - monotonic
    let step = state.withLock { state in
      defer { state.offset = offset }
      return offset - (state.offset ?? offset)
    }
    guard abs(step) >= Self.minStep else { return }
    // The clocks are read one after the other.
    let rounded = (abs(step) + 30_000) / 60_000 * 60_000
    let sentence =
      "The clock of this machine was set \(step > 0 ? "forward" : "back") by \(Amount.duration(rounded)) at "
      + "\(Terminal.localTime(wall)). Check its time service: timedatectl status."
    add(.warning(.clockStep, sentence), wall)
  }

  func findings(now: Int64) -> [Finding] {
    state.withLock { state in
      state.findings.removeAll { $0.until <= now }
      return state.findings.map(\.finding)
    }
  }

  /// A newer event replaces one of the same kind.
  private func add(_ finding: Finding, _ now: Int64) {
    state.withLock { state in
      state.findings.removeAll { $0.finding.code == finding.code }
      state.findings.append((finding, now + Self.day))
    }
  }
}
