import ParleyJSON
import ParleyKit

/// A refusal with a message that says what to do next.
struct CommandRefusal: Error {
  let message: String
}

extension Outcome {
  /// A refusal of the server or of the local cache is a failure; without an answer the command could not run.
  init(_ error: any Error) {
    switch error {
    case let error as Settings.UsageError: self.init(.error, error.message)
    case let error as CommandRefusal: self.init(.failure, error.message)
    case let error as RefusedRequest: self.init(.failure, error.message)
    case let error as ClientFault: self.init(error)
    case let error as CacheFault: self.init(.error, error.userMessage)
    case let error as SyncRefusal: self.init(.failure, error.userMessage)
    case let error as OutboxRefusal: self.init(.failure, error.userMessage)
    default: self.init(.error, "\(error)")
    }
  }

  init(_ fault: ClientFault) {
    if fault.isSignedOut {
      self.init(.failure, "The session has ended. Sign in again with parley login SERVER NAME.")
    } else if let problem = fault.problem {
      self.init(.failure, problem.commandMessage)
    } else {
      self.init(.error, fault.userMessage)
    }
  }
}

extension Problem {
  /// The message of a refusal, with the reason of each invalid field.
  var commandMessage: String {
    switch code {
    case "invalid", "unknown_field":
      guard !errors.isEmpty else { return userMessage }
      return
        "Invalid value: \(errors.map { "\($0.field) \(Self.phrases[$0.code] ?? "is invalid")" }.joined(separator: ", "))."
    case "forbidden":
      return "\(userMessage) parley whoami prints your user and role."
    case "conflict":
      return "\(userMessage.replacing("Reload", with: "Read it again"))"
    default: return userMessage
    }
  }

  private static let phrases = [
    "missing": "is missing", "taken": "is taken", "too_short": "is too short", "too_long": "is too long",
    "too_many": "has too many elements", "unknown": "is unknown", "out_of_range": "is out of range",
  ]
}
