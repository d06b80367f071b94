import ParleyJSON
import ParleyNetworking
import Storage
import Synchronization
import Web

/// The daemon's part of `parley doctor`.
final class DoctorReporter: Sendable {
  private let probes: DoctorProbes
  private let status: StatusReporter
  private let settings: RunningSettings
  private let limits: @Sendable () -> Limits

  /// The median time of a small durable write that is a warning, and an error, in milliseconds. A rotating disk takes 20.
  private static let (slowWrite, stuckWrite) = (100, 1_000)
  private static let writes = 5

  init(
    _ probes: DoctorProbes, _ status: StatusReporter, _ settings: RunningSettings,
    limits: @escaping @Sendable () -> Limits
  ) {
    self.probes = probes
    self.status = status
    self.settings = settings
    self.limits = limits
  }

  /// The facts and a code for requests over the public address.
  func response() async throws(Problem) -> Response {
    let facts = await facts()
    let code: String
    do { code = try probes.make() } catch { throw .unavailable }
    var json = JSONWriter()
    json.object { json in
      json.field("code", code)
      json.field("facts", facts)
    }
    return Response(.ok, json.bytes, type: .json)
  }

  private func facts() async -> DoctorFacts {
    var facts = DoctorFacts()
    let running = settings.start
    facts.version = version
    facts.publicOrigins = running.addresses.publicOrigins.map(\.origin)
    facts.isEncrypted = running.certificates != nil
    facts.findings = await status.measure().problems
    facts.findings += settings.findings()
    facts.findings += descriptorFindings()
    facts.findings += Self.clockFindings()
    facts.findings += await Self.diskFindings(running.data)
    return facts
  }

  private func descriptorFindings() -> [Finding] {
    let (descriptors, connections) = (DescriptorLimit.raise(), limits().connections)
    guard descriptors < connections + DescriptorLimit.reserved else { return [] }
    return [
      .warning(
        .descriptors,
        "The server may open \(descriptors) files, too few for \(Setting.limit("connections").name) = \(connections). Write "
          + "LimitNOFILE=65536 into the unit (systemctl edit parley.service), or raise ulimit -n, and restart.")
    ]
  }

  /// No finding if the kernel does not report the state of the clock.
  private static func clockFindings() -> [Finding] {
    guard Clock.isSynchronized == false else { return [] }
    return [
      .warning(
        .clock,
        "The clock of this machine is not synchronized. Install a time service: apt-get install systemd-timesyncd.")
    ]
  }

  private static func diskFindings(_ data: String) async -> [Finding] {
    let queue = SerialQueue("parley.doctor")
    let times = await Task(executorPreference: queue) { FileSystem.durableWriteTimes(in: data, count: writes) }.value
      .sorted()
    guard times.count == writes else { return [] }  // A full disk has a finding of its own.
    let median = times[writes / 2]
    guard median >= slowWrite else { return [] }
    let sentence =
      "A durable write takes \(median) ms, and each message waits for one. Put the data folder on a local SSD, and keep "
      + "backups on another disk."
    return [median >= stuckWrite ? .error(.slowDisk, sentence) : .warning(.slowDisk, sentence)]
  }
}
