import Community
import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleyNetworking

/// Sends alerts about states of the site that need the operator: each once until it ends, and again after a day at the
/// earliest. A failed attempt is repeated for a day. The history is a file in the data folder, so that a restart repeats none.
actor AlertMonitor {
  private struct Waiting {
    let message: AlertMessage
    var attempts = 0
    var nextAt: Int64
  }

  private let community: Community
  private let status: StatusReporter
  private let file: StateFile<AlertHistory>
  private let origin: String
  private let log: @Sendable (String) -> Void
  private var receiver: AlertReceiver?
  private var history: AlertHistory
  private var waiting: [Waiting] = []
  private var isChecking = false

  /// Interval at which the daemon calls `check`.
  static let interval: Duration = .seconds(10)
  /// Milliseconds until an attempt is repeated; doubled each time, at most an hour.
  private static let (firstDelay, maxDelay): (Int64, Int64) = (30_000, 3_600_000)
  private static let maxAge: Int64 = 86_400_000
  private static let idBytes = 12

  init(
    _ receiver: AlertReceiver?, _ community: Community, _ status: StatusReporter, data: String, origin: String,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.receiver = receiver
    self.community = community
    self.status = status
    self.origin = origin
    self.log = log
    file = StateFile("alerts", data: data, title: "The history of alerts", log: log)
    // A damaged file costs a repetition.
    history = file.read() ?? AlertHistory()
  }

  /// Replaces the receiver.
  func use(_ receiver: AlertReceiver?) { self.receiver = receiver }

  /// Looks at the site and sends due alerts. No-op while the previous call runs.
  func check() async {
    guard !isChecking else { return }
    isChecking = true
    defer { isChecking = false }
    let now = Clock.wall() / 1_000_000
    let site = await status.measure(now: now)
    let before = history
    let due = history.update(Alert.all(site.problems, usedPercent: site.usedPercent), now: now)
    if history != before { file.write(history) }
    for alert in due {
      log(
        LogEvent.alert.line(
          ["code": alert.finding.code.rawValue, "level": alert.finding.level.rawValue], alert.finding.sentence))
      await tellStaff(alert.finding)
      guard receiver != nil, let id = try? Hex.text(SecureRandom.bytes(Self.idBytes)) else { continue }
      let message = AlertMessage(
        id: "msg_\(id)", finding: alert.finding, site: site.name.isEmpty ? "Parley" : site.name, origin: origin,
        createdAt: now)
      waiting.append(Waiting(message: message, nextAt: now))
    }
    await sendWaiting(now)
  }

  /// A full disk or a damaged database takes no notification: the receiver and the log have it.
  private func tellStaff(_ finding: Finding) async {
    do throws(Refusal) { try await community.alertStaff(finding.code.rawValue) } catch {
      log(
        LogEvent.alert.line(
          ["code": finding.code.rawValue, "result": "failed"], "The inbox of the staff can't be written: \(error.code)")
      )
    }
  }

  private func sendWaiting(_ now: Int64) async {
    guard let receiver else { return waiting.removeAll() }
    var rest: [Waiting] = []
    for var item in waiting {
      guard item.nextAt <= now else {
        rest.append(item)
        continue
      }
      guard let reason = await receiver.send(item.message) else { continue }
      item.attempts += 1
      if item.attempts == 1 {
        log(
          LogEvent.alert.line(
            ["code": item.message.finding.code.rawValue, "result": "failed"],
            "The alert could not be delivered and is tried again: \(reason)"))
      }
      guard now - item.message.createdAt < Self.maxAge else { continue }
      item.nextAt = now + min(Self.maxDelay, Self.firstDelay << Int64(min(item.attempts - 1, 10)))
      rest.append(item)
    }
    waiting = rest
  }
}
