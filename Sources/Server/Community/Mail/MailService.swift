public import Mail
import ParleyCrypto
public import ParleyModel

/// The sender and the texts of mail, and the program's way to the mail server.
public struct MailService: Sendable {
  /// The public URL of the site, which links begin with.
  let origin: String
  let sender: MailAddress
  /// Takes the reports of mail servers on mails that were not delivered; nil if the sender does.
  let bounces: MailAddress?
  /// Takes replies to notifications; nil if there are none.
  let replies: MailAddress?
  /// Signs links that unsubscribe, and the codes of mails.
  let key: [UInt8]
  let texts: MailTexts
  public let receipts = MailReceiptCounts()
  let send: @Sendable (MailMessage) async -> MailOutcome

  public init(
    origin: String, sender: MailAddress, bounces: MailAddress? = nil, replies: MailAddress? = nil, key: [UInt8],
    texts: MailTexts, send: @escaping @Sendable (MailMessage) async -> MailOutcome
  ) {
    self.origin = origin
    self.sender = sender
    self.bounces = bounces
    self.replies = replies
    self.key = key
    self.texts = texts
    self.send = send
  }
}

/// The texts of mail in the languages of the app.
public struct MailTexts: Sendable {
  public enum Text: String, Sendable, Hashable, CaseIterable {
    case addressChanged = "page.mail.addressChanged"
    case addressChangedSubject = "page.mail.addressChangedSubject"
    case claim = "page.mail.claim"
    case claimAction = "page.mail.claimAction"
    case claimHint = "page.mail.claimHint"
    case claimSubject = "page.mail.claimSubject"
    case confirmation = "page.mail.confirmation"
    case confirmationAction = "page.mail.confirmationAction"
    case confirmationHint = "page.mail.confirmationHint"
    case confirmationSubject = "page.mail.confirmationSubject"
    case digest = "page.mail.digest"
    case digestMentions = "page.mail.digestMentions"
    case digestMore = "page.mail.digestMore"
    case digestOpen = "page.mail.digestOpen"
    case digestReason = "page.mail.digestReason"
    case digestReplies = "page.mail.digestReplies"
    case digestSubject = "page.mail.digestSubject"
    case digestTopics = "page.mail.digestTopics"
    case digestUnknown = "page.mail.digestUnknown"
    case digestUnread = "page.mail.digestUnread"
    case direct = "page.mail.direct"
    case `in` = "page.mail.in"
    case more = "page.mail.more"
    case notMe = "signIns.notMe"
    case open = "page.mail.open"
    case openAccounts = "page.mail.openAccounts"
    case openAdmin = "page.mail.openAdmin"
    case openPasskeys = "page.mail.openPasskeys"
    case openReports = "page.mail.openReports"
    case openTokens = "page.mail.openTokens"
    case openTwoStep = "page.mail.openTwoStep"
    case openWebhooks = "page.mail.openWebhooks"
    case passwordChanged = "page.mail.passwordChanged"
    case passwordChangedSubject = "page.mail.passwordChangedSubject"
    case reason = "page.mail.reason"
    case replyAddress = "page.mail.replyAddress"
    case replyAttachments = "page.mail.replyAttachments"
    case replyAttachmentsSubject = "page.mail.replyAttachmentsSubject"
    case replyExpired = "page.mail.replyExpired"
    case replyHint = "page.mail.replyHint"
    case replyNotAllowed = "page.mail.replyNotAllowed"
    case replySubject = "page.mail.replySubject"
    case replyTooLong = "page.mail.replyTooLong"
    case replyUnreadable = "page.mail.replyUnreadable"
    case reset = "page.mail.reset"
    case resetAction = "page.mail.resetAction"
    case resetHint = "page.mail.resetHint"
    case resetSubject = "page.mail.resetSubject"
    case roleChanged = "page.mail.roleChanged"
    case roleChangedSubject = "page.mail.roleChangedSubject"
    case security = "page.mail.security"
    case settings = "page.mail.settings"
    case signIn = "page.mail.signIn"
    case signInDevice = "page.mail.signInDevice"
    case signInNetwork = "page.mail.signInNetwork"
    case signInTime = "page.mail.signInTime"
    case test = "page.mail.test"
    case testSubject = "page.mail.testSubject"
    case unsubscribe = "page.mail.unsubscribe"
  }

  /// One language.
  public struct Words: Sendable {
    /// Its code.
    let language: String
    /// `ltr` or `rtl`.
    let direction: String
    let say: @Sendable (_ text: Text, _ parameters: [String: String], _ count: Int?) -> String
    let headline: @Sendable (NotificationHeadline) -> String
    /// A time in milliseconds since 1970, in UTC.
    let minute: @Sendable (_ time: Int64) -> String

    public init(
      language: String, direction: String,
      say: @escaping @Sendable (_ text: Text, _ parameters: [String: String], _ count: Int?) -> String,
      headline: @escaping @Sendable (NotificationHeadline) -> String,
      minute: @escaping @Sendable (_ time: Int64) -> String
    ) {
      self.language = language
      self.direction = direction
      self.say = say
      self.headline = headline
      self.minute = minute
    }

    func callAsFunction(_ text: Text, _ parameters: [String: String] = [:], count: Int? = nil) -> String {
      say(text, parameters, count)
    }
  }

  let words: @Sendable (_ language: String?) -> Words

  public init(_ words: @escaping @Sendable (_ language: String?) -> Words) { self.words = words }
}

extension Community {
  /// The key of links that unsubscribe, made at the first start. Without the key of the data folder that sealed it, a new one
  /// is made, and links in earlier mails end.
  public func loadMailKey() async throws(Refusal) -> [UInt8] {
    let (new, sealed): ([UInt8], [UInt8])
    do {
      new = try SecureRandom.bytes(Secret.byteCount)
      sealed = try store.secrets.seal(new, for: Self.mailKeyContext)
    } catch { throw .unavailable }
    return try await store.write { [secrets = store.secrets] tx throws(Refusal) in
      if let stored = try tx.mailKey(), let key = try? secrets.open(stored, for: Self.mailKeyContext) { return key }
      try tx.setMailKey(sealed)
      return new
    }
  }

  private static var mailKeyContext: String { "mail key" }
}
