// The texts of the visitor pages in one language, from `Public/lang`.

import Community
import ParleyJSON
import ParleyModel

struct PageText: Sendable {
  /// The code of the language, as in `lang` of HTML.
  let language: String
  private let texts: [Key: Text]

  private enum Text: Sendable {
    case plain(String)
    /// By plural category.
    case forms([String: String])
  }

  /// Without texts: writers of XML need none.
  static let none = PageText(language: "en", texts: [:])

  private init(language: String, texts: [Key: Text]) {
    self.language = language
    self.texts = texts
  }

  /// Reads the keys of the pages from a file.
  init(language: String, file: [UInt8]) throws(JSONError) {
    var object = try JSONValue(parsing: file).object()
    var texts: [Key: Text] = [:]
    for key in Key.allCases {
      let value = try object.value(key.rawValue)
      if value.kind == .object {
        var members = try value.object()
        var forms: [String: String] = [:]
        for (category, form) in members.members() { forms[category] = try form.string() }
        texts[key] = .forms(forms)
      } else {
        texts[key] = .plain(try value.string())
      }
    }
    self.init(language: language, texts: texts)
  }

  subscript(_ key: Key) -> String {
    switch texts[key] {
    case .plain(let text): text
    case .forms(let forms): forms["other"] ?? ""
    case nil: key.rawValue
    }
  }

  /// The text with a name in it.
  func filled(_ key: Key, name: String) -> String { say(key, ["name": name]) }

  private func say(_ key: Key, _ parameters: KeyValuePairs<String, String>) -> String {
    Self.fill(self[key], with: parameters)
  }

  private func say(_ key: Key, count: Int, as number: String) -> String {
    guard case .forms(let forms)? = texts[key] else { return self[key] }
    let form = forms[PluralRule.category(of: count, in: language)] ?? forms["other"] ?? ""
    return Self.fill(form, with: ["n": number])
  }

  /// The text with names in it, and the plural form of a number.
  func said(_ key: Key, _ names: [String: String], count: Int?) -> String {
    let text = count.map { say(key, count: $0, as: grouped($0)) } ?? self[key]
    return Self.fill(text) { names[$0].map(isolated) }
  }

  /// The plural forms as a JSON object, for the script.
  func forms(_ key: Key) -> String {
    guard case .forms(let forms)? = texts[key] else { return "{}" }
    var json = JSONWriter()
    json.object { json in
      for (category, form) in forms.sorted(by: { $0.key < $1.key }) { json.field(category, form) }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private static func fill(_ text: String, with parameters: KeyValuePairs<String, String>) -> String {
    fill(text) { name in parameters.first { $0.key == name }?.value }
  }

  private static func fill(_ text: String, _ value: (String) -> String?) -> String {
    var filled = ""
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = rest[rest.index(after: open)..<close]
      filled += rest[..<open] + (value(String(name)) ?? String(rest[open...close]))
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }

  var direction: String { self[.direction] }

  /// A name in a right-to-left sentence, whose order it would change if it is written from left to right (UAX #9 §2.4.2).
  func isolated(_ name: String) -> String { direction == "rtl" ? "\u{2068}\(name)\u{2069}" : name }

  // MARK: Sentences

  func posts(_ count: Int) -> String { say(.postCount, count: count, as: grouped(count)) }
  func replies(_ count: Int) -> String { say(.replies, count: count, as: grouped(count)) }
  func messages(_ count: Int) -> String { say(.messages, count: count, as: grouped(count)) }
  func members(_ count: Int) -> String { say(.members, count: count, as: atMost(count, Forum.maxCounted)) }
  func topics(_ count: Int) -> String { say(.topicCount, count: count, as: atMost(count, Forum.maxCounted)) }
  func noTopics(tagged tag: String) -> String { say(.noTopicsTagged, ["tag": isolated(tag)]) }
  func votes(_ count: Int, share: Int) -> String {
    "\(say(.votes, count: count, as: grouped(count))) · \(grouped(share))%"
  }
  func voters(_ count: Int) -> String {
    count == 0 ? self[.noVotes] : say(.voters, count: count, as: grouped(count))
  }
  func likes(_ count: Int) -> String { say(.likes, count: count, as: grouped(count)) }
  func range(_ first: Int, _ last: Int) -> String { say(.range, ["first": String(first), "last": String(last)]) }
  func answered(by name: String) -> String { say(.solvedBy, ["name": isolated(name)]) }
  func joined(_ time: Int64) -> String { say(.joined, ["at": day(time)]) }
  func replyTo(_ name: String) -> String { say(.replyTo, ["name": isolated(name)]) }
  func postsBy(_ name: String) -> String { say(.postsBy, ["name": isolated(name)]) }
  func reposted(by name: String) -> String { say(.reposted, ["name": isolated(name)]) }
  func reacted(_ emoji: String, _ count: Int) -> String { "\(emoji) \(grouped(count))" }

  func name(of author: Author?) -> String {
    guard let user = author?.user.summary else { return self[.unknownMember] }
    guard let name = user.name else { return self[.formerMember] }
    return user.displayName ?? name
  }

  func gone(_ tombstone: Message.Tombstone) -> String {
    let what =
      switch tombstone.deletion {
      case .author: self[.goneAuthor]
      case .moderator: self[.goneModerator]
      case .moved: self[.goneMoved]
      case .erased: self[.goneErased]
      }
    return tombstone.reason.map { say(.goneBecause, ["what": what, "reason": isolated($0)]) } ?? what
  }

  // MARK: Numbers and times

  /// `5.2 MB`, as file managers write it.
  func size(_ bytes: Int) -> String {
    let units = self[.units].split(separator: " ")
    var (value, unit) = (bytes * 10, 0)
    while value >= 10_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
    let isWhole = unit == 0 || value >= 100
    return (isWhole ? "\(value / 10)" : "\(value / 10)\(self[.decimal])\(value % 10)") + " " + units[unit]
  }

  /// `1,042`.
  func grouped(_ count: Int) -> String {
    var groups: [Substring] = []
    var digits = String(count)[...]
    while digits.count > 3 {
      groups.append(digits.suffix(3))
      digits = digits.dropLast(3)
    }
    groups.append(digits)
    return groups.reversed().joined(separator: self[.group])
  }

  private func atMost(_ count: Int, _ limit: Int) -> String {
    count >= limit ? "\(grouped(limit))+" : grouped(count)
  }

  /// `3 May 2026`, of milliseconds since 1970, in UTC.
  func day(_ time: Int64) -> String {
    let date = CivilDate(daysSince1970: Int(time) / 86_400_000)
    let months = self[.months].split(separator: " ")
    let month = months.indices.contains(date.month - 1) ? String(months[date.month - 1]) : String(date.month)
    return say(.date, ["day": String(date.day), "month": month, "year": String(date.year)])
  }

  /// `3 May 2026, 21:04`.
  func minute(_ time: Int64) -> String {
    let minutes = Int(time) / 60_000 % 1_440
    let (hour, minute) = (minutes / 60, minutes % 60)
    let clock = "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    return say(.minute, ["date": day(time), "time": clock])
  }
}

extension PageText {
  /// Keys of the files in `Public/lang`. Those that begin with `page.` are not in the app's bundle.
  enum Key: String, CaseIterable, Sendable {
    case acceptRules = "page.issuer.acceptRules"
    case allTopics = "filter.showAll"
    case back = "page.backToPost"
    case breadcrumb = "page.breadcrumb"
    case cancel = "act.cancel"
    case consentAdmin = "page.consent.admin"
    case consentAllow = "page.consent.allow"
    case consentBack = "page.consent.back"
    case consentCode = "page.consent.code"
    case consentEnd = "page.consent.end"
    case consentFailed = "page.consent.failed"
    case consentForums = "page.consent.forums"
    case consentLead = "page.consent.lead"
    case consentLimit = "page.consent.limit"
    case consentNoPasskey = "passkeys.cancelled"
    case consentPasskey = "proof.passkey"
    case consentPassword = "page.consent.password"
    case consentProfile = "page.consent.profile"
    case consentProof = "page.consent.proof"
    case consentRead = "page.consent.read"
    case consentReadForums = "page.consent.readForums"
    case consentTitle = "page.consent.title"
    case consentUnknown = "page.consent.unknown"
    case consentUnverified = "page.consent.unverified"
    case consentUser = "page.consent.user"
    case consentWrite = "page.consent.write"
    case consentWriteForums = "page.consent.writeForums"
    case consentWrong = "page.consent.wrong"
    case contact = "signIn.contact"
    case conversation = "page.conversation"
    case createAccount = "join.verb"
    case date = "page.date"
    case decimal = "page.decimal"
    case direction = "language.direction"
    case edited = "page.edited"
    case feed = "page.feed"
    case formerMember = "user.gone"
    case forums = "navigation.forums"
    case goneAuthor = "gone.author"
    case goneBecause = "gone.because"
    case goneErased = "gone.erased"
    case goneModerator = "gone.moderator"
    case goneMoved = "gone.moved"
    case group = "page.group"
    case home = "fault.home"
    case inReply = "page.inReply"
    case inboxIdentityLinked = "inbox.identity_linked"
    case inboxIdentityUnlinked = "inbox.identity_unlinked"
    case inboxAlert = "inbox.alert"
    case inboxAlertBackupLate = "inbox.alert.backup_late"
    case inboxAlertCertificate = "inbox.alert.certificate"
    case inboxAlertClockStep = "inbox.alert.clock_step"
    case inboxAlertDamage = "inbox.alert.damage"
    case inboxAlertDisk = "inbox.alert.disk"
    case inboxAlertNotReady = "inbox.alert.not_ready"
    case inboxAlertOffSiteLate = "inbox.alert.off_site_late"
    case inboxAlertRestoreTest = "inbox.alert.restore_test"
    case inboxAlertUncleanStop = "inbox.alert.unclean_stop"
    case inboxEndpointDisabled = "inbox.endpoint_disabled"
    case inboxPasskeyCreated = "inbox.passkey_created"
    case inboxPasskeyDeleted = "inbox.passkey_deleted"
    case inboxPasskeyCopied = "inbox.passkey_copied"
    case inboxMention = "inbox.mention"
    case inboxRecoveryCodeUsed = "inbox.recovery_code_used"
    case inboxRecoveryCodesCreated = "inbox.recovery_codes_created"
    case inboxReply = "inbox.reply"
    case inboxReport = "inbox.report"
    case inboxReportFound = "inbox.report.found"
    case inboxRequest = "inbox.request"
    case inboxRoom = "inbox.room"
    case inboxSecondFactorDisabled = "inbox.second_factor_disabled"
    case inboxSecondFactorDisabledSelf = "inbox.second_factor_disabled.self"
    case inboxSecondFactorEnabled = "inbox.second_factor_enabled"
    case inboxSignIn = "inbox.sign_in"
    case inboxToken = "inbox.token"
    case inboxWarning = "inbox.warning"
    case issuerAgain = "page.issuer.again"
    case issuerClaim = "page.issuer.claim"
    case issuerClosed = "page.issuer.closed"
    case issuerDisplayName = "page.issuer.displayName"
    case issuerFailed = "page.issuer.failed"
    case issuerFailedLead = "page.issuer.failedLead"
    case issuerHaveAccount = "page.issuer.haveAccount"
    case issuerLead = "page.issuer.lead"
    case issuerName = "page.issuer.name"
    case issuerNotAdmitted = "page.issuer.notAdmitted"
    case issuerPending = "page.issuer.pending"
    case issuerRequest = "page.issuer.request"
    case issuerRules = "page.issuer.rules"
    case joinWaits = "join.waits"
    case joined = "user.since"
    case likes = "page.likes"
    case locked = "topic.locked"
    case mailAddressChanged = "page.mail.addressChanged"
    case mailAddressChangedSubject = "page.mail.addressChangedSubject"
    case mailClaim = "page.mail.claim"
    case mailClaimAction = "page.mail.claimAction"
    case mailClaimHint = "page.mail.claimHint"
    case mailClaimSubject = "page.mail.claimSubject"
    case mailConfirmation = "page.mail.confirmation"
    case mailConfirmationAction = "page.mail.confirmationAction"
    case mailConfirmationHint = "page.mail.confirmationHint"
    case mailConfirmationSubject = "page.mail.confirmationSubject"
    case mailDigest = "page.mail.digest"
    case mailDigestMentions = "page.mail.digestMentions"
    case mailDigestMore = "page.mail.digestMore"
    case mailDigestOpen = "page.mail.digestOpen"
    case mailDigestReason = "page.mail.digestReason"
    case mailDigestReplies = "page.mail.digestReplies"
    case mailDigestSubject = "page.mail.digestSubject"
    case mailDigestTopics = "page.mail.digestTopics"
    case mailDigestUnknown = "page.mail.digestUnknown"
    case mailDigestUnread = "page.mail.digestUnread"
    case mailDirect = "page.mail.direct"
    case mailIn = "page.mail.in"
    case mailMore = "page.mail.more"
    case mailOpen = "page.mail.open"
    case mailOpenAccounts = "page.mail.openAccounts"
    case mailOpenAdmin = "page.mail.openAdmin"
    case mailOpenPasskeys = "page.mail.openPasskeys"
    case mailOpenReports = "page.mail.openReports"
    case mailOpenTokens = "page.mail.openTokens"
    case mailOpenTwoStep = "page.mail.openTwoStep"
    case mailOpenWebhooks = "page.mail.openWebhooks"
    case mailPasswordChanged = "page.mail.passwordChanged"
    case mailPasswordChangedSubject = "page.mail.passwordChangedSubject"
    case mailReason = "page.mail.reason"
    case mailReplyAddress = "page.mail.replyAddress"
    case mailReplyAttachments = "page.mail.replyAttachments"
    case mailReplyAttachmentsSubject = "page.mail.replyAttachmentsSubject"
    case mailReplyExpired = "page.mail.replyExpired"
    case mailReplyHint = "page.mail.replyHint"
    case mailReplyNotAllowed = "page.mail.replyNotAllowed"
    case mailReplySubject = "page.mail.replySubject"
    case mailReplyTooLong = "page.mail.replyTooLong"
    case mailReplyUnreadable = "page.mail.replyUnreadable"
    case mailReset = "page.mail.reset"
    case mailResetAction = "page.mail.resetAction"
    case mailResetHint = "page.mail.resetHint"
    case mailResetSubject = "page.mail.resetSubject"
    case mailRoleChanged = "page.mail.roleChanged"
    case mailRoleChangedSubject = "page.mail.roleChangedSubject"
    case mailSecurity = "page.mail.security"
    case mailSettings = "page.mail.settings"
    case mailSignIn = "page.mail.signIn"
    case mailSignInDevice = "page.mail.signInDevice"
    case mailSignInNetwork = "page.mail.signInNetwork"
    case mailSignInTime = "page.mail.signInTime"
    case mailTest = "page.mail.test"
    case mailTestSubject = "page.mail.testSubject"
    case mailUnsubscribe = "page.mail.unsubscribe"
    case mainNavigation = "navigation.all"
    case members = "forum.members"
    case messages = "inbox.messages"
    case messagesPage = "navigation.messages"
    case minute = "page.minute"
    case missing = "fault.gone"
    case missingTitle = "page.missingTitle"
    case months = "page.months"
    case newLead = "signIn.newLead"
    case newPosts = "page.newPosts"
    case newTitle = "signIn.newTitle"
    case newer = "page.newer"
    case next = "page.next"
    case noActivity = "forum.quiet"
    case noForums = "page.noForums"
    case noMessages = "page.noMessages"
    case noPosts = "page.noPosts"
    case noTopics = "page.noTopics"
    case noTopicsTagged = "filter.noTag"
    case noVotes = "poll.noVotes"
    case older = "page.older"
    case pages = "page.pages"
    case pinned = "topic.pinned"
    case pollClosed = "poll.closed"
    case pollCloses = "poll.closes"
    case pollName = "poll.name"
    case pollOpen = "page.pollOpen"
    case postCount = "page.postCount"
    case posts = "page.posts"
    case postsBy = "feed.postsOf"
    case previous = "page.previous"
    case privacy = "signIn.privacy"
    case proved = "page.issuer.proved"
    case provedLead = "page.issuer.provedLead"
    case pushMessage = "push.message"
    case pushSeveral = "push.several"
    case pushSeveralFrom = "push.severalFrom"
    case pushSeveralFromIn = "push.severalFromIn"
    case pushSeveralIn = "push.severalIn"
    case pushTest = "push.test"
    case range = "page.range"
    case replies = "topic.replies"
    case reply = "act.reply"
    case replyTo = "page.replyTo"
    case report = "act.report"
    case reportLead = "page.reportLead"
    case reportLimit = "page.reportLimit"
    case reportReason = "remove.reason"
    case reportSend = "page.reportSend"
    case reportTitle = "page.reportTitle"
    case reported = "page.reported"
    case reportedTitle = "page.reportedTitle"
    case reposted = "feed.reposted"
    case room = "forum.room"
    case rules = "signIn.rules"
    case signIn = "act.signIn"
    case signInDisplay = "signIn.display"
    case signInName = "signIn.name"
    case signInWith = "signIn.with"
    case signInToReply = "page.signInToReply"
    case signInsNotMe = "signIns.notMe"
    case skip = "navigation.skip"
    case solution = "page.solution"
    case solved = "topic.solved"
    case solvedBy = "page.solvedBy"
    case topicCount = "page.topicCount"
    case topics = "forum.topics"
    case units = "file.units"
    case unknownMember = "user.unknown"
    case unsubscribeDigestLead = "page.unsubscribeDigestLead"
    case unsubscribeDigestTitle = "page.unsubscribeDigestTitle"
    case unsubscribeLead = "page.unsubscribeLead"
    case unsubscribeTitle = "page.unsubscribeTitle"
    case unsubscribeVerb = "page.unsubscribeVerb"
    case unsubscribed = "page.unsubscribed"
    case unsubscribedDigest = "page.unsubscribedDigest"
    case utc = "page.utc"
    case voters = "poll.voters"
    case votes = "poll.count"
  }
}

extension TagWriter {
  mutating func time(_ time: Int64) {
    tag("time", ["datetime": Timestamp.format(Int(time))], words.minute(time))
  }
}
