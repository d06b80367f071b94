import ParleyJSON

/// The result of a load, as text or JSON.
struct LoadReport {
  struct Step {
    let connections: Int
    /// The growth of the server's memory in bytes: resident, and its anonymous part.
    let resident: Int?
    let anonymous: Int?
  }

  let arguments: LoadArguments
  let seconds: Double
  let tally: Tally
  var steps: [Step] = []

  var errorCount: Int { tally.faults.values.reduce(0, +) }

  private static let quantiles: [(name: String, fraction: Double)] = [
    ("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
  ]

  private var page: String { arguments.target.pages.first?.description ?? "" }

  var text: String {
    var lines = ["\(arguments.scene) \(page), \(arguments.connections) connections"]
    for step in steps { lines.append("  \(text(of: step))") }
    if tally.operations > 0 {
      let rate = Double(tally.operations) / seconds
      let megabytes = Double(tally.bytes) / seconds / 1e6
      let done = "\(tally.operations) operations in \(seconds.rounded(to: 2)) s"
      lines.append("  \(done): \(Int(rate)) a second, \(megabytes.rounded(to: 1)) MB a second")
      let values = Self.quantiles.map {
        "\($0.name) \((Double(tally.latency.value(at: $0.fraction)) / 1e3).rounded(to: 1))"
      }
      lines.append("  latency in µs: \(values.joined(separator: ", "))")
    }
    for (fault, count) in tally.faults.sorted(by: { $0.key < $1.key }) { lines.append("  \(count) × \(fault)") }
    if tally.faults.isEmpty { lines.append("  no errors") }
    return lines.joined(separator: "\n")
  }

  private func text(of step: Step) -> String {
    guard let resident = step.resident, let anonymous = step.anonymous else { return "\(step.connections) connections" }
    let each = [resident, anonymous].map { (Double($0) / Double(step.connections) / 1024).rounded(to: 2) }
    return "\(step.connections) connections: \(each[0]) KB resident each, of which \(each[1]) KB anonymous"
  }

  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("scene", arguments.scene.rawValue)
      json.field("url", page)
      json.field("connections", arguments.connections)
      json.field("operations", tally.operations)
      json.field("seconds", seconds)
      json.field("bytes", tally.bytes)
      json.field("errors", errorCount)
      json.object("faults") { json in
        for (fault, count) in tally.faults.sorted(by: { $0.key < $1.key }) { json.field(fault, count) }
      }
      json.field("mean_us", tally.latency.mean / 1e3)
      for (name, fraction) in Self.quantiles {
        json.field("\(name.filter { $0 != "." })_us", Double(tally.latency.value(at: fraction)) / 1e3)
      }
      json.array("steps") { json in
        for step in steps {
          json.object { json in
            json.field("connections", step.connections)
            json.field("resident_bytes", step.resident)
            json.field("anonymous_bytes", step.anonymous)
          }
        }
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension Double {
  func rounded(to digits: Int) -> Double {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    return (self * scale).rounded() / scale
  }
}
