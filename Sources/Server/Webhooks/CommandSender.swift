// Sends uses of slash commands to their programs. One request per use: a program that has received it, or not, is asked no
// second time.

public import Community
import ParleyCrypto
public import ParleyHTTPClient
import ParleyJSON
import ParleyModel
import ParleyWire
import Synchronization

public final class CommandSender: Sendable {
  private let client: UntrustedClient
  private let clock: @Sendable () -> Int64
  /// Requests under way, by command.
  private let sending = Mutex<[ID<SlashCommand>: Int]>([:])

  /// The requests of one command under way: a slow program leaves room for the others.
  private static let maxSendingPerCommand = 8
  /// Bytes of an answer.
  private static let maxAnswerBytes = 65_536

  /// The limits of the client for commands. A connection of its own for each request: one that the program has closed
  /// meanwhile would need a second attempt.
  public static var clientLimits: UntrustedLimits {
    var limits = UntrustedLimits()
    limits.timeout = 3_000
    limits.maxFetches = 64
    limits.maxIdleConnections = 0
    return limits
  }

  /// - Parameter clock: milliseconds since 1970.
  public init(_ client: UntrustedClient, clock: @escaping @Sendable () -> Int64) {
    self.client = client
    self.clock = clock
  }

  public func send(_ call: CommandCall) async -> CommandAnswer {
    let command = call.invocation.command
    let isBusy = sending.withLock { sending in
      guard sending[command, default: 0] < Self.maxSendingPerCommand else { return true }
      sending[command, default: 0] += 1
      return false
    }
    guard !isBusy else { return .failed(.timedOut) }
    defer {
      sending.withLock { sending in
        let left = sending[command, default: 1] - 1
        sending[command] = left == 0 ? nil : left
      }
    }
    let message = call.message
    do {
      let fields = try message.fields(signedBy: call.secrets, now: clock() / 1_000)
      let reply = try await client.post(
        message.body, fields, to: call.url, maxBytes: Self.maxAnswerBytes, isRepeatable: false)
      return CommandAnswer(reply)
    } catch UntrustedFault.timedOut {
      return .failed(.timedOut)
    } catch {
      // One fault for all: it is no map of the internal network.
      return .failed(.unreachable)
    }
  }
}

extension CommandAnswer {
  /// An answer has JSON, or no body at all. Unknown members are ignored.
  init(_ reply: UntrustedReply) {
    guard 200...299 ~= reply.status, reply.isComplete else {
      self = .failed(.invalidAnswer)
      return
    }
    guard !reply.body.isEmpty else {
      self = .accepted
      return
    }
    do {
      var object = try JSONValue(parsing: reply.body).object()
      let text: String? = try object.optional("text")
      self = text == nil ? .accepted : .reply(try CommandReplyDraft(&object))
    } catch {
      self = .failed(.invalidAnswer)
    }
  }
}

extension CommandCall {
  /// The request, in the form of outgoing webhooks.
  fileprivate var message: WebhookMessage {
    var json = JSONWriter()
    json.object { json in
      json.field("invocation_id", invocation.id)
      json.field("command", invocation.name)
      json.field("text", text)
      json.object("user") { json in
        json.field("id", user.id)
        json.field("name", user.name)
        json.field("display_name", user.displayName)
      }
      json.object("conversation") { json in
        json.field("id", conversation.id)
        json.field("kind", conversation.kind.rawValue)
        json.field("title", conversation.title)
        json.field("forum_id", conversation.forum)
      }
      json.field("response_url", replyURL)
      json.field("expires_at", Timestamp(invocation.expiresAt))
    }
    return WebhookMessage(
      "cmd_\(invocation.id)", type: "command.invoked", at: invocation.createdAt, data: json.bytes)
  }
}
