public import ParleyCrypto
public import ParleyModel
public import WebPush

/// The key and the texts of push messages, and the program's way to send a request.
public struct PushService: Sendable {
  public enum Address: Sendable, Hashable {
    case accepted
    /// Not `https`, or no URL.
    case invalid
    /// Not on the internet.
    case refused
  }

  let vapid: VAPID
  /// Makes opaque topics.
  let topicKey: [UInt8]
  /// The public URL of the site.
  let origin: String
  let texts: PushTexts
  let examine: @Sendable (_ endpoint: String) -> Address
  let send: @Sendable (PushRequest) async -> PushOutcome

  /// - Parameters:
  ///   - origin: the public URL of the site, which push services require and notifications open.
  ///   - examine: whether a message may be sent to a URL.
  public init(
    _ key: P256, origin: String, texts: PushTexts, examine: @escaping @Sendable (_ endpoint: String) -> Address,
    send: @escaping @Sendable (PushRequest) async -> PushOutcome
  ) throws(CryptoError) {
    vapid = VAPID(key, subject: origin)
    topicKey = try HMAC.sha256(of: Array("topics of push messages".utf8), key: key.secret)
    self.origin = origin
    self.texts = texts
    self.examine = examine
    self.send = send
  }

  /// The key that devices subscribe with.
  public var publicKey: String { vapid.publicKey }

  /// For the log: the rest of the URL is a secret.
  func host(of endpoint: String) -> Substring { endpoint.split(separator: "/").dropFirst().first ?? "" }

  /// A topic of the queue as push services see it.
  func topic(_ text: String, of subscription: ID<PushSubscription>) throws(CryptoError) -> String {
    try PushRequest.topic("\(subscription) \(text)", key: topicKey)
  }
}

/// The texts of notifications that no user wrote.
public struct PushTexts: Sendable {
  public enum Text: Sendable, Hashable {
    /// A message without a text, or with a hidden one.
    case message
    /// Several unread messages of a conversation: of one sender, if there is a name, and with the title of the conversation.
    case several(Int, name: String?, title: String?)
    /// A notification about no message.
    case notification(NotificationHeadline)
    case test
  }

  let say: @Sendable (_ text: Text, _ language: String?) -> String

  public init(_ say: @escaping @Sendable (_ text: Text, _ language: String?) -> String) { self.say = say }
}

extension Community {
  /// The key of the site, made at the first start. Without the key of the data folder that sealed it, a new one is made, and
  /// devices subscribe again.
  public func loadPushKey() async throws(Refusal) -> P256 {
    let (new, sealed): (P256, [UInt8])
    do {
      new = try P256()
      sealed = try store.secrets.seal(new.secret, for: Self.pushKeyContext)
    } catch { throw .unavailable }
    return try await store.write { [secrets = store.secrets] tx throws(Refusal) in
      if let stored = try tx.pushKey(), let secret = try? secrets.open(stored, for: Self.pushKeyContext),
        let key = P256(secret: secret)
      {
        return key
      }
      try tx.setPushKey(sealed)
      return new
    }
  }

  private static var pushKeyContext: String { "push key" }
}
