import API
import Community
import ParleyNetworking
import Serving
import Storage
import Synchronization
import Web

/// The text of `/metrics`, in the format of Prometheus. No label names a user, a conversation or an address.
final class Metrics: Sendable {
  private let community: Community
  private let push: OutgoingPush?
  private let mail: OutgoingMail?
  private let certificates: Certificates?
  private let hook: BackupHook
  private let started = Clock.wall()
  private static let contentType = ContentType("text/plain; version=0.0.4; charset=utf-8", isCompressible: true)
  /// Set after its start: the server's routes need the metrics.
  private let server = Mutex<Server?>(nil)

  init(
    _ community: Community, push: OutgoingPush?, mail: OutgoingMail?, certificates: Certificates?, hook: BackupHook
  ) {
    self.community = community
    self.push = push
    self.mail = mail
    self.certificates = certificates
    self.hook = hook
  }

  func use(_ server: Server) { self.server.withLock { $0 = server } }

  /// The application of `--metrics-listen`: it has nothing else, and asks for no token.
  func application(limits: Limits) -> Application {
    Application(
      router: Router { routes in routes.on(.get, "/metrics") { _, _ in await self.response() } }, limits: limits)
  }

  func response() async -> Response {
    var response = Response(.ok, Array(await text().utf8), type: Self.contentType)
    response.fields.add("Cache-Control", "no-store")
    return response
  }

  private func text() async -> String {
    var text = MetricsText()
    text.add("parley_build_info", .gauge, "Version of Parley.", 1, ["version": API.Release.current.version])
    addProcess(to: &text)
    if let server = server.withLock({ $0 }) {
      add(await server.counts(), server.memory.used, server.memory.limit, to: &text)
    }
    await add(community.store, to: &text)
    text.add(
      "parley_password_hashes_total", .counter, "Passwords that were hashed (scrypt), right or wrong.",
      Double(community.passwordHashCount))
    if let mail {
      add(mail.service.receipts, to: &text)
      add(
        await mail.deliverer.counts, as: "parley_mail_sends_total",
        "Mails given to the mail server, by kind and outcome.",
        to: &text)
      text.add(
        "parley_mail_dropped_total", .counter, "Mails that the bounds of the queue have cost.",
        Double(await mail.deliverer.droppedCount))
    }
    if let push {
      await add(push.deliverer.droppedCount, to: &text)
      add(
        await push.deliverer.counts, as: "parley_push_requests_total",
        "Requests to push services, by kind of the notification and outcome.", to: &text)
    }
    if let expiry = certificates?.expiry {
      text.add("parley_certificate_expiry_timestamp_seconds", .gauge, "End of the TLS certificate.", Double(expiry))
    }
    return text.text
  }

  private func addProcess(to text: inout MetricsText) {
    text.add(
      "process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.",
      Double(started / 1_000_000) / 1_000)
    guard let process = ProcessStatus() else { return }
    text.add("process_cpu_seconds_total", .counter, "User and system CPU time.", process.processorTime)
    text.add("process_resident_memory_bytes", .gauge, "Resident memory.", Double(process.residentBytes))
    text.add("process_open_fds", .gauge, "Open file descriptors.", Double(process.descriptorCount))
  }

  private func add(_ counts: ServingCounts, _ used: Int, _ limit: Int, to text: inout MetricsText) {
    let requests = counts.requests
    text.begin("parley_http_requests_total", .counter, "Answered requests by class of status.")
    for number in 1...5 { text.sample(["code": "\(number)xx"], Double(requests.byClass[number])) }
    text.begin(
      "parley_http_request_duration_seconds", .histogram,
      "Time of requests; long polls and event streams count with the time that they wait.")
    var sum = 0
    for (index, bound) in RequestCounts.bounds.enumerated() {
      sum += requests.buckets[index]
      text.sample(["le": "\(Double(bound) / 1_000_000_000)"], Double(sum), suffix: "_bucket")
    }
    sum += requests.buckets[RequestCounts.bounds.count]
    text.sample(["le": "+Inf"], Double(sum), suffix: "_bucket")
    text.sample([:], Double(requests.nanoseconds) / 1_000_000_000, suffix: "_sum")
    text.sample([:], Double(sum), suffix: "_count")
    text.add("parley_http_malformed_total", .counter, "Requests with invalid framing.", Double(requests.malformed))
    text.add("parley_http_aborted_total", .counter, "Responses that were cut off.", Double(requests.aborted))
    text.begin("parley_connections", .gauge, "Open connections.")
    text.sample(["protocol": "http"], Double(counts.httpConnections))
    text.sample(["protocol": "websocket"], Double(counts.webSockets))
    text.add("parley_buffer_bytes", .gauge, "Buffers of all connections.", Double(used))
    text.add("parley_buffer_limit_bytes", .gauge, "The limit of these buffers, --limit-memory.", Double(limit))
  }

  private func add(_ store: Store, to text: inout MetricsText) async {
    let writes = store.writeCounts
    text.add("parley_commits_total", .counter, "Commits of the database.", Double(writes.commits))
    text.add("parley_writes_total", .counter, "Writes; one commit carries several.", Double(writes.writes))
    text.begin("parley_commit_writes", .histogram, "Writes of a commit.")
    var sum = 0
    for (bound, count) in zip(WriteCounts.bounds.map(String.init) + ["+Inf"], writes.groups) {
      sum += count
      text.sample(["le": bound], Double(sum), suffix: "_bucket")
    }
    text.sample([:], Double(writes.writes), suffix: "_sum")
    text.sample([:], Double(sum), suffix: "_count")
    text.add("parley_failed_commits_total", .counter, "Commits that failed.", Double(writes.failures))
    text.add("parley_waiting_writes", .gauge, "Writes that wait for their commit.", Double(store.waitingCount))
    text.add(
      "parley_ready", .gauge, "Whether the database takes writes, as /readyz says.", store.writeRefusal == nil ? 1 : 0)
    // A store that is too busy to read leaves its lines out.
    guard let measured = try? await store.measure() else { return }
    text.add("parley_events_total", .counter, "Events since the site was created.", Double(measured.lastEvent))
    text.add("parley_database_bytes", .gauge, "Size of the database.", Double(measured.database))
    text.add("parley_wal_bytes", .gauge, "Size of the write-ahead log.", Double(measured.writeAheadLog))
    if let free = measured.freeSpace, let total = measured.totalSpace {
      text.add("parley_disk_free_bytes", .gauge, "Free space of the disk with the data folder.", Double(free))
      text.add("parley_disk_bytes", .gauge, "Size of this disk.", Double(total))
    }
    if let backup = measured.lastBackup {
      text.add(
        "parley_last_backup_timestamp_seconds", .gauge, "The last successful backup.", Double(backup) / 1_000)
    }
    if let test = measured.lastRestoreTest {
      text.add(
        "parley_last_restore_test_timestamp_seconds", .gauge, "The last restore test of a scheduled backup.",
        Double(test.at) / 1_000)
      text.add(
        "parley_last_restore_test_passed", .gauge, "Whether the last restore test found no fault.",
        test.result == .failed ? 0 : 1)
    }
    if let copy = await hook.lastSuccess {
      text.add(
        "parley_last_off_site_backup_timestamp_seconds", .gauge, "The last success of the backup hook.",
        Double(copy) / 1_000)
    }
    text.add("parley_mail_queue", .gauge, "Mails that wait.", Double(measured.waitingMails))
    text.add(
      "parley_mail_stopped_addresses", .gauge, "Addresses of users to which mail has stopped.",
      Double(measured.stoppedEmails))
    text.add("parley_push_queue", .gauge, "Push messages that wait.", Double(measured.waitingPushes))
  }

  private func add(_ receipts: MailReceiptCounts, to text: inout MetricsText) {
    text.begin("parley_mail_received_total", .counter, "Mails that parley mail-in handed over, by their outcome.")
    for (receipt, count) in receipts.all { text.sample(["receipt": receipt.rawValue], Double(count)) }
  }

  private func add(_ counts: DeliveryCounts, as name: String, _ help: String, to text: inout MetricsText) {
    text.begin(name, .counter, help)
    for (label, count) in counts.all { text.sample(["kind": label.kind, "outcome": label.outcome], Double(count)) }
  }

  private func add(_ dropped: Int, to text: inout MetricsText) {
    text.add(
      "parley_push_dropped_total", .counter, "Push messages that the bounds of the queue have cost.", Double(dropped))
  }
}

/// Lines in the text format of Prometheus.
struct MetricsText {
  enum Kind: String { case counter, gauge, histogram }

  private(set) var text = ""
  private var name = ""

  /// Begins a metric with several samples.
  mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  mutating func sample(_ labels: [String: String], _ value: Double, suffix: String = "") {
    let list = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }.joined(separator: ",")
    text += "\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))\n"
  }

  /// Adds a metric with one sample.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double, _ labels: [String: String] = [:]) {
    begin(name, kind, help)
    sample(labels, value)
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\(value)"
  }
}

/// The process as the kernel sees it.
struct ProcessStatus {
  let residentBytes: Int
  /// In seconds.
  let processorTime: Double
  let descriptorCount: Int

  private static let pageSize = 4_096
  /// The kernel's unit of CPU time, the same on all platforms of Linux.
  private static let ticksPerSecond = 100.0

  /// Nil without `/proc`.
  init?() {
    guard let memory = try? FileSystem.read("/proc/self/statm"), let status = try? FileSystem.read("/proc/self/stat"),
      let descriptors = try? FileSystem.names(in: "/proc/self/fd")
    else { return nil }
    let pages = String(decoding: memory, as: UTF8.self).split(separator: " ")
    // The name of the program, in parentheses, may contain spaces. The third field follows it.
    let fields = String(decoding: status, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    guard pages.count > 1, let resident = Int(pages[1]), fields.count > 12, let user = Double(fields[11]),
      let system = Double(fields[12])
    else { return nil }
    residentBytes = resident * Self.pageSize
    processorTime = (user + system) / Self.ticksPerSecond
    // Without the one that reads the folder.
    descriptorCount = descriptors.count - 1
  }
}
