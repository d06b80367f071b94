public import ParleyCrypto
import ParleyWire

/// A request to a push service (RFC 8030 §5): a POST with an encrypted message.
public struct PushRequest: Sendable {
  public let endpoint: String
  public let fields: [(name: String, value: String)]
  public let body: [UInt8]

  /// RFC 8030 §5.3: a device that saves power receives urgent messages alone.
  public enum Urgency: Int, Sendable, Hashable {
    case low = 0, normal, high

    var name: String {
      switch self {
      case .low: "low"
      case .normal: "normal"
      case .high: "high"
      }
    }
  }

  /// - Parameters:
  ///   - endpoint: the URL of the device at its push service.
  ///   - topic: RFC 8030 §5.4: a waiting message with the same topic is replaced. At most 32 characters of Base64.
  ///   - timeToLive: in seconds; a device that stays away longer does not receive the message.
  ///   - now: seconds since 1970.
  public init(
    _ payload: PushPayload, to endpoint: String, _ keys: PushKeys, signedBy vapid: VAPID, topic: String?,
    urgency: Urgency, timeToLive: Int, isShort: Bool = false, now: Int64
  ) throws(CryptoError) {
    self.endpoint = endpoint
    let (json, size) = payload.content(isShort: isShort)
    body = try keys.encrypt(Array(json.prefix(PushKeys.maxContent)), size: size)
    var fields = [
      (name: "Content-Type", value: "application/octet-stream"), (name: "Content-Encoding", value: ContentCoding.name),
      (name: "TTL", value: "\(timeToLive)"), (name: "Urgency", value: urgency.name),
      (
        name: "Authorization",
        value: try vapid.authorization(for: WebAddress(endpoint)?.origin ?? endpoint, now: now)
      ),
    ]
    if let topic { fields.append((name: "Topic", value: topic)) }
    self.fields = fields
  }

  /// An opaque topic: the same text has the same topic under one key alone.
  public static func topic(_ text: String, key: [UInt8]) throws(CryptoError) -> String {
    String(Base64.encode(try HMAC.sha256(of: Array(text.utf8), key: key), .url).prefix(32))
  }
}

/// The answer of a push service.
public enum PushOutcome: Sendable, Hashable {
  case accepted
  /// The subscription has ended (RFC 8030 §7.3).
  case gone
  /// The message is too long (RFC 8030 §7.2).
  case tooLarge
  /// No more requests for a while (RFC 8030 §8.4); in seconds, if the service says how long.
  case busy(retryAfter: Int?)
  /// Another status. The start of the answer has the reason.
  case refused(status: Int, words: String)
  /// No answer.
  case unreachable

  /// For metrics.
  public var name: String {
    switch self {
    case .accepted: "accepted"
    case .gone: "gone"
    case .tooLarge: "too_large"
    case .busy: "busy"
    case .refused: "refused"
    case .unreachable: "unreachable"
    }
  }

  /// - Parameter retryAfter: seconds.
  public init(status: Int, retryAfter: Int?, body: [UInt8]) {
    switch status {
    case 200...299: self = .accepted
    case 404, 410: self = .gone
    case 413: self = .tooLarge
    case 429, 500...599: self = .busy(retryAfter: retryAfter)
    default: self = .refused(status: status, words: Self.words(body))
    }
  }

  private static let maxWords = 200

  /// Printable text on one line.
  private static func words(_ body: [UInt8]) -> String {
    let scalars = String(decoding: body.prefix(4 * maxWords), as: UTF8.self).unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .control ? " " : scalar
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars.prefix(maxWords))
    return String(text).split(separator: " ").joined(separator: " ")
  }
}
