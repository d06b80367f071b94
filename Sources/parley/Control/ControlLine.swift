import ParleyJSON

/// A line of the daemon's response to a command: JSON, one value per line.
enum ControlLine: Equatable {
  case progress(Progress)
  case outcome(Outcome)

  /// Longer than any line that the daemon writes.
  static let maxBytes = 65_536

  var bytes: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      switch self {
      case .progress(let progress):
        json.field("doing", progress.name)
        json.field("done", progress.done)
        json.field("total", progress.total)
      case .outcome(let outcome):
        json.field("status", Int(outcome.status.rawValue))
        json.field("sentence", outcome.message)
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }

  init(reading bytes: [UInt8]) throws(JSONError) {
    var object = try JSONValue(parsing: bytes).object()
    if let name: String = try object.optional("doing") {
      self = .progress(Progress(name, done: try object.int("done"), of: try object.int("total")))
    } else {
      let status = try object.int("status", in: 0...2)
      self = .outcome(Outcome(Outcome.Status(rawValue: Int32(status)) ?? .error, try object.string("sentence")))
    }
    try object.finish()
  }
}
