import API
import ParleyJSON
import ParleyModel
import ParleyNetworking
import Serving
import Storage
import Synchronization
import Web

/// Collects the state of the running site for `parley status`.
final class StatusReporter: Sendable {
  private let api: API
  private let origin: String
  private let certificates: Certificates?
  private let publicNames: [String]
  private let push: OutgoingPush?
  private let mail: OutgoingMail?
  /// The interval of scheduled backups in milliseconds; nil without them.
  private let interval: Mutex<Int64?>
  private let events: MachineEvents
  private let backups: ScheduledBackups
  private let hook: BackupHook
  private let startedAt = Clock.wall() / 1_000_000
  /// Set after its start: the control socket needs the reporter.
  private let server = Mutex<Server?>(nil)

  /// Free space of the disk in percent below which it is a warning, and an error.
  private static let (warningSpace, errorSpace) = (20, 5)
  /// The age of a backup by hand that is a warning, in milliseconds: a week.
  private static let maxBackupAge: Int64 = 7 * 86_400_000

  init(
    _ api: API, _ origin: String, _ certificates: Certificates?, publicNames: [String], push: OutgoingPush?,
    mail: OutgoingMail?, backups: ScheduledBackups, backupInterval: Int64?, hook: BackupHook, events: MachineEvents
  ) {
    self.api = api
    self.origin = origin
    self.certificates = certificates
    self.publicNames = publicNames
    self.push = push
    self.mail = mail
    self.backups = backups
    self.hook = hook
    self.events = events
    interval = Mutex(backupInterval)
  }

  private var backupInterval: Int64? { interval.withLock { $0 } }

  func use(backupInterval: Int64?) { interval.withLock { $0 = backupInterval } }

  func use(_ server: Server) { self.server.withLock { $0 = server } }

  func response() async throws(Problem) -> Response {
    do {
      let status = try await status()
      var json = JSONWriter()
      json.value(status)
      return Response(.ok, json.bytes, type: .json)
    } catch { throw .unavailable }
  }

  /// The part of the status that needs no query of tables, for alerts and `parley doctor`. Of a database that can't be
  /// read it has the problems alone.
  func measure(now: Int64 = Clock.wall() / 1_000_000) async -> SiteStatus {
    var status = SiteStatus()
    do throws(Refusal) {
      let measured = try await api.community.store.measure()
      status.name = try await api.community.store.siteName()
      (status.freeSpace, status.totalSpace) = (measured.freeSpace, measured.totalSpace)
      status.lastBackupAt = measured.lastBackup
      status.lastRestoreTest = measured.lastRestoreTest
      status.damagedFiles = measured.damagedFiles
    } catch {
      status.problems = await readinessProblems() + events.findings(now: now)
      return status
    }
    status.problems = await problems(status, at: now)
    return status
  }

  private func status() async throws(Refusal) -> SiteStatus {
    var status = SiteStatus()
    let counted = try await api.community.store.siteCounts()
    let measured = try await api.community.store.measure()
    (status.name, status.origin, status.version) = (counted.name, origin, API.Release.current.version)
    status.startedAt = startedAt
    (status.users, status.activeUsers) = (counted.statistics.users, counted.statistics.activeUsers)
    (status.pendingUsers, status.openReports) = (counted.statistics.pendingUsers, counted.statistics.openReports)
    (status.messages, status.fileSize) = (counted.statistics.messages, counted.statistics.fileSize)
    if let counts = await server.withLock({ $0 })?.counts() {
      (status.connections, status.webSockets) = (counts.httpConnections + counts.webSockets, counts.webSockets)
    }
    status.databaseSize = measured.database + measured.writeAheadLog
    (status.freeSpace, status.totalSpace) = (measured.freeSpace, measured.totalSpace)
    (status.lastBackupAt, status.certificateEnd) = (measured.lastBackup, certificates?.expiry.map { $0 * 1_000 })
    status.lastRestoreTest = measured.lastRestoreTest
    status.damagedFiles = measured.damagedFiles
    status.lastOffSiteAt = await hook.lastSuccess
    if push != nil { status.waitingPushes = measured.waitingPushes }
    if mail != nil { status.waitingMails = measured.waitingMails }
    status.problems = await problems(status, at: Clock.wall() / 1_000_000)
    return status
  }

  private func readinessProblems() async -> [Finding] {
    do throws(Problem) { try api.checkReadiness() } catch {
      let sentence = "The server refuses changes: \(error.title)"
      guard api.community.store.writeRefusal == .damaged else { return [.error(.notReady, sentence)] }
      return [.error(.damage, "\(sentence) \(await restoreAdvice())")]
    }
    return []
  }

  /// The backup that replaces a damaged database, and the command.
  private func restoreAdvice() async -> String {
    guard let (backup, isTested) = await backups.restorable(), let folder = try? FileSystem.absolute(backup.folder.path)
    else { return "Stop the server and restore a backup: parley restore --replace FILE" }
    let time = Timestamp.format(Int(backup.time)).prefix(16).replacing("T", with: " ")
    return "Stop the server and restore the newest \(isTested ? "tested " : "")backup, of \(time) UTC: "
      + "parley restore --replace \(folder)@\(backup.name) --data \(api.community.store.folder.path)"
  }

  /// Damaged uploaded files, and the command that copies one of them from the backups.
  private func fileProblems(_ damaged: [String]) async -> [Finding] {
    guard let first = damaged.first else { return [] }
    let others = damaged.count == 1 ? "" : " and \(damaged.count - 1) others"
    let advice: String
    if let (backup, _) = await backups.restorable(), let folder = try? FileSystem.absolute(backup.folder.path) {
      advice =
        "Copy \(damaged.count == 1 ? "it" : "them") from the backups: cp \(folder)/\(first) "
        + "\(api.community.store.folder.path)/\(first)"
    } else {
      advice = "Copy \(damaged.count == 1 ? "it" : "them") from a backup."
    }
    return [.error(.fileDamage, "The uploaded file \(first)\(others) is damaged or missing. \(advice)")]
  }

  private func problems(_ status: SiteStatus, at now: Int64) async -> [Finding] {
    var problems = await readinessProblems() + fileProblems(status.damagedFiles)
    if let used = status.usedPercent, 100 - used < Self.warningSpace {
      let sentence = "The disk is \(used) % full. Make room, or move the data folder to a larger disk."
      problems.append(100 - used < Self.errorSpace ? .error(.disk, sentence) : .warning(.disk, sentence))
    }
    problems += backupProblems(status.lastBackupAt, at: now)
    if backupInterval != nil, let problem = status.lastRestoreTest?.problem { problems.append(problem) }
    if let late = await hook.problem(at: now, interval: backupInterval) { problems.append(late) }
    let isExpired = certificates?.expiry.map { $0 * 1_000 <= now } ?? false
    for sentence in certificates?.warnings(publicNames: publicNames, now: now / 1_000) ?? [] {
      problems.append(isExpired ? .error(.certificate, sentence) : .warning(.certificate, sentence))
    }
    if let reason = await mail?.deliverer.outageReason {
      problems.append(
        .warning(.mail, "Mail waits: \(reason). Compare \(Setting.smtpURL.flag) with the settings of the mail server."))
    }
    return problems + events.findings(now: now)
  }

  private func backupProblems(_ last: Int64?, at now: Int64) -> [Finding] {
    let advice = "Schedule them with \(Setting.backupEvery.flag) 24, or run parley backup FILE."
    guard let last else {
      if let backupInterval, now - startedAt > 2 * backupInterval {
        return [
          .error(
            .backupLate,
            "There is no backup, although they are scheduled. The reason is in the log: journalctl --unit parley --grep "
              + "event=backup.")
        ]
      }
      return backupInterval == nil ? [.warning(.backupMissing, "There is no backup. \(advice)")] : []
    }
    let age = now - last
    let backupInterval = backupInterval
    if let backupInterval, age > 2 * backupInterval {
      return [
        .error(
          .backupLate,
          "The last backup is \(Amount.duration(age)) old, although they are scheduled. Its reason is in the log: journalctl "
            + "--unit parley --grep event=backup.")
      ]
    }
    guard backupInterval == nil, age > Self.maxBackupAge else { return [] }
    return [.warning(.backupLate, "The last backup is \(Amount.duration(age)) old. \(advice)")]
  }
}

extension Statistics.RestoreTest {
  /// The finding about a test that did not pass, or about missing files.
  fileprivate var problem: Finding? {
    let time = Timestamp.format(Int(backup)).prefix(16).replacing("T", with: " ")
    switch result {
    case .passed where reason.isEmpty: return nil
    case .passed:
      return .warning(
        .backupIncomplete, "The backup of \(time) UTC is sound, but \(reason). parley verify names the files.")
    case .compared:
      return .warning(
        .restoreTestRoom,
        "The backup of \(time) UTC was compared, but not restored for a test: the disk of the data folder has no room for a copy of "
          + "the database.")
    case .failed:
      return .error(
        .restoreTest,
        "The backup of \(time) UTC failed its restore test: \(reason). Check the disk of \(Setting.backupTo.flag). The next backup "
          + "compares all files and copies damaged ones again.")
    }
  }
}
