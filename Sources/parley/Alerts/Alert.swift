import ParleyCrypto
import ParleyJSON
import ParleyWire

/// A message to the operator about a finding.
struct Alert: Sendable, Equatable {
  /// Names the state that begins and ends, such as `disk-90`.
  let key: String
  /// Lesser states of the same kind, which this one includes.
  var included: [String] = []
  let finding: Finding

  /// The part of the disk in percent from which each state holds.
  private static let diskSteps = [95, 90, 80]
  private static let codes: Set<Finding.Code> = [
    .notReady, .damage, .fileDamage, .restored, .backupLate, .restoreTest, .offSiteLate, .certificate, .clockStep,
    .uncleanStop,
  ]

  init(key: String, included: [String] = [], _ finding: Finding) {
    (self.key, self.included, self.finding) = (key, included, finding)
  }

  /// The alerts of a site in this state.
  static func all(_ findings: [Finding], usedPercent: Int?) -> [Alert] {
    var alerts = findings.filter { codes.contains($0.code) }.map { Alert(key: $0.code.rawValue, $0) }
    if let usedPercent, let step = diskSteps.firstIndex(where: { usedPercent >= $0 }) {
      let keys = diskSteps[step...].map { "\(Finding.Code.disk.rawValue)-\($0)" }
      let sentence = "The disk is \(usedPercent) % full. Make room, or move the data folder to a larger disk."
      let finding: Finding = step == 0 ? .error(.disk, sentence) : .warning(.disk, sentence)
      alerts.append(Alert(key: keys[0], included: Array(keys.dropFirst()), finding))
    }
    return alerts
  }
}

/// The alerts that were sent: each once until its state ends. A state that comes back is sent again after a day.
struct AlertHistory: Equatable {
  struct Entry: Equatable {
    /// Whether the state has lasted since the alert was sent.
    var isActive: Bool
    /// In milliseconds since 1970.
    var sentAt: Int64
  }

  private(set) var entries: [String: Entry] = [:]
  private static let day: Int64 = 86_400_000

  init() {}

  /// Notes the present state and returns the alerts to send.
  mutating func update(_ alerts: [Alert], now: Int64) -> [Alert] {
    let present = Set(alerts.flatMap { [$0.key] + $0.included })
    for (key, entry) in entries {
      // A clock that was ahead does not hold alerts back.
      let isPast = now >= entry.sentAt + Self.day || now < entry.sentAt
      if !present.contains(key) { entries[key] = isPast ? nil : Entry(isActive: false, sentAt: entry.sentAt) }
    }
    var due: [Alert] = []
    for alert in alerts {
      let entry = entries[alert.key]
      if entry?.isActive == true { continue }
      if let entry, now < entry.sentAt + Self.day, now >= entry.sentAt { continue }
      due.append(alert)
      for key in [alert.key] + alert.included { entries[key] = Entry(isActive: true, sentAt: now) }
    }
    return due
  }
}

extension AlertHistory: JSONReadable, JSONWritable {
  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    for (name, value) in object.members() {
      var entry = try value.object()
      let sentAt: Timestamp = try entry.read("sent_at")
      entries[name] = Entry(isActive: try entry.bool("active"), sentAt: Int64(sentAt.milliseconds))
    }
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      for (key, entry) in entries.sorted(by: { $0.key < $1.key }) {
        json.object(key) { json in
          json.field("active", entry.isActive)
          json.field("sent_at", Timestamp(entry.sentAt))
        }
      }
    }
  }
}
