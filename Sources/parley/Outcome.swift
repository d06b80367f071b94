import ParleyJSON

/// The result of a command: the exit status and a message.
struct Outcome: Equatable {
  /// The exit statuses of the program.
  enum Status: Int32 {
    case success = 0
    /// The check failed or the server refused the request: a damaged database, a server that is not healthy.
    case failure = 1
    /// The command could not run: invalid arguments or an invalid file, a system error, no network.
    case error = 2
  }

  let status: Status
  let message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  /// Prints the message and returns the exit status.
  /// - Parameter asJSON: whether to print it as one JSON object, also that of a failure, on standard output.
  func report(asJSON: Bool) -> Int32 { asJSON ? reportJSON() : report() }

  /// Prints one JSON object with the status, the message and these members, and returns the exit status.
  func reportJSON(_ members: (inout JSONWriter) -> Void = { _ in }) -> Int32 {
    var json = JSONWriter()
    json.object { json in
      json.field("status", "\(status)")
      json.field("message", message)
      members(&json)
    }
    Terminal.print(String(decoding: json.bytes, as: UTF8.self) + "\n")
    return status.rawValue
  }

  /// Prints the message and returns the exit status.
  func report() -> Int32 {
    switch status {
    case .success where message.isEmpty: break
    case .success: Terminal.print(printable + "\n")
    case .failure, .error: Terminal.log(printable)
    }
    return status.rawValue
  }

  /// The message without control characters: it may quote an untrusted file, and terminals execute escape sequences.
  var printable: String {
    String(
      String.UnicodeScalarView(
        message.unicodeScalars.map { scalar in
          scalar.value < 32 && scalar != "\n" || 127...159 ~= scalar.value ? "\u{fffd}" : scalar
        }))
  }
}
