import Mail
import ParleyModel
import Synchronization
import Testing

@testable import Community

/// Stands in for a mail server: keeps the messages.
final class MailReceiver: Sendable {
  private struct State {
    var messages: [MailMessage] = []
    var outcome = MailOutcome.accepted
  }

  private let state = Mutex(State())

  static let sender = address("noreply@example.org")
  static let bounces = address("bounces@example.org")
  static let replies = address("reply@example.org")

  private static func address(_ text: String) -> MailAddress {
    guard let address = MailAddress(text) else { fatalError("\(text) is no address") }
    return address
  }

  func receive(_ message: MailMessage) -> MailOutcome {
    state.withLock { state in
      state.messages.append(message)
      return state.outcome
    }
  }

  func answer(with outcome: MailOutcome) { state.withLock { $0.outcome = outcome } }

  /// The messages since the last call.
  func take() -> [MailMessage] {
    state.withLock { state in
      defer { state.messages = [] }
      return state.messages
    }
  }
}

extension MailMessage {
  /// The last part of the first link under a path.
  func code(of path: String) -> String? {
    let begin = "https://example.org/\(path)/"
    return text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix(begin) }.map {
      String($0.dropFirst(begin.count))
    }
  }
}

extension Village {
  /// The messages of one round of the queue.
  func mail() async -> [MailMessage] {
    await mailDeliverer.round()
    return mailReceiver.take()
  }

  /// Sets an address. Returns the code of the link that is sent there.
  func emailCode(_ address: String, of name: String) async throws -> String {
    try await expect(200, .put, "/me/email", as: name, ["address": address])
    return try #require(await mail().first { $0.to.description == address }?.code(of: "email"))
  }

  /// Proves that the session is the user's, after more than ten minutes.
  func prove(_ name: String) async throws {
    try await expect(204, .post, "/sessions/current/proof", as: name, ["password": "\(name)’s password"])
  }

  /// Gives a user a confirmed address.
  func confirmEmail(_ address: String, of name: String) async throws {
    let code = try await emailCode(address, of: name)
    try await expect(200, .post, "/email-confirmations", as: name, ["code": code])
    _ = await mail()
  }
}
