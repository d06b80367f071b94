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
  /// The message of a refusal, with the command to run next.
  var commandMessage: String {
    switch code {
    case "forbidden":
      return "\(userMessage) parley whoami prints your user and role."
    case "conflict":
      return "\(userMessage) Read it again first."
    default: return userMessage
    }
  }
}
