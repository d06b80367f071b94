// The weekly digest: unread items by mail, on Monday morning in the user's time zone, ranked as in `GET /unread`. Users are
// indexed by the time of their next digest, so a pass of the worker reads only due users, and a restart sends none twice.

import Mail
import ParleyModel
import Storage

enum WeeklyDigest {
  /// The time of the digest on Monday, in seconds.
  static let hour = 8 * 3_600
  /// In milliseconds: a digest that is later waits for the next week.
  static let maxLateness: Int64 = 12 * 3_600_000
  /// In milliseconds: a user who was there within this time gets none.
  static let absence: Int64 = 86_400_000
  /// In milliseconds: the least time between two digests, also for a user who has changed the time zone.
  static let minInterval: Int64 = 6 * 86_400_000
  /// Users that one write plans.
  static let chunk = 100
  /// Forums and conversations of a digest.
  static let maxItems = 10
  static let maxTopics = 3
  static let excerptScalars = 200

  private static let day = 86_400
  /// 1970 began on a Thursday.
  private static let firstMonday = 4

  /// The next Monday morning after a time, in milliseconds since 1970.
  ///
  /// - Parameter rules: of the time zone; nil for UTC.
  static func next(after time: Int64, in rules: ZoneRules?) -> Int64 {
    let offset = { (seconds: Int) in rules?.offset(at: seconds) ?? 0 }
    let now = Int(time / 1_000)
    let local = now + offset(now)
    let today = local / day
    var monday = today - (today - firstMonday) % 7
    while true {
      let morning = monday * day + hour
      // The clock may change between now and then.
      let begin = morning - offset(morning - offset(morning))
      if begin > now { return Int64(begin) * 1_000 }
      monday += 7
    }
  }
}

extension NotificationSettings {
  /// The time zone of the digest; nil for UTC.
  var digestZone: String? { timeZone ?? quietHours?.timeZone }

  /// Whether the user wants a digest at this time.
  func allowDigest(at time: Int64) -> Bool { hasWeeklyDigest && !isPaused && (snoozedUntil ?? 0) <= time }
}

extension User {
  /// Whether a digest tells the user something new.
  fileprivate func isAbsent(at time: Int64) -> Bool {
    standing?.state == .active && time - (standing?.lastSeenAt ?? 0) >= WeeklyDigest.absence
  }
}

extension WriteTransaction {
  /// Plans the next digest of a user, and queues the one that is due if the user wants it.
  ///
  /// - Returns: whether it was queued.
  func planDigest(of recipient: DigestRecipient, in zones: TimeZones) throws(Refusal) -> Bool {
    let settings = try notificationSettings(of: recipient.user)
    let rules = settings.digestZone.flatMap { zones.rules(of: $0) }
    try setDigestTime(WeeklyDigest.next(after: now, in: rules), of: recipient.user)
    guard recipient.dueAt > 0, now - recipient.dueAt < WeeklyDigest.maxLateness, settings.allowDigest(at: now),
      now - (recipient.digestedAt ?? 0) >= WeeklyDigest.minInterval,
      try user(recipient.user)?.isAbsent(at: now) == true
    else { return false }
    try enqueueDigest(of: recipient.user)
    return true
  }
}

extension ReadTransaction {
  /// The digest of a user; nil if it is not to be sent any more, or there is nothing unread.
  func digestMail(_ due: DueMail, _ bounds: Bounds, over service: MailService) throws(Refusal) -> ComposedMail? {
    guard let recipient = try mailRecipient(due.user), let address = recipient.address.flatMap({ MailAddress($0) }),
      let user = try user(due.user), user.isAbsent(at: now),
      try notificationSettings(of: due.user).allowDigest(at: now),
      // The site refuses to show anything to this user.
      try !lacksSecondFactor(due.user)
    else { return nil }
    let caller = Caller(user: due.user, role: user.summary.role, scope: .read, session: nil)
    let overview = try unreadOverview(PageRequest(limit: WeeklyDigest.maxItems), for: caller, bounds)
    guard !overview.page.items.isEmpty else { return nil }
    let (site, words) = (try settings(), service.texts.words(recipient.language))
    let parameters = ["site": site.name]
    var content = MailContent(
      subject: words(.digestSubject, parameters), lead: words(.digest, parameters), words: words)
    content.list = .weeklyDigest
    // Titles and texts are content: the site may permit neither in mail.
    if site.pushShows == .text {
      for item in overview.page.items {
        content.items.append(try self.item(item, words, over: service))
      }
      if overview.page.next != nil { content.note = words(.digestMore) }
    }
    content.action = (label: words(.digestOpen, parameters), url: service.origin + "/")
    content.footer = [(text: words(.digestReason), url: nil)]
    content.addListFooter(for: due.user, over: service)
    let message = content.message(to: address, id: "\(due.id).\(due.createdAt)", from: service, of: site, at: now)
    return ComposedMail(message: message)
  }

  private func item(
    _ item: UnreadItem, _ words: MailTexts.Words, over service: MailService
  ) throws(Refusal) -> MailContent.Item {
    let author = try item.message.flatMap { view throws(Refusal) in try user(view.message.author)?.summary }
    let name = author.map { $0.displayName ?? $0.name ?? words(.digestUnknown) }
    let title: String?
    let path: String
    let forumTitle = try item.forum.flatMap { id throws(Refusal) in try forum(id)?.title }
    switch item.kind {
    case .forum: (title, path) = (forumTitle, item.forum.map { "/f/\($0)" } ?? "/")
    case .conversation(.room): (title, path) = (forumTitle, item.forum.map { "/f/\($0)/room" } ?? "/")
    case .conversation(.topic): (title, path) = (item.title, "/t/\(item.conversation)")
    case .conversation(.direct), .conversation(.group), .conversation(.channel), .conversation(.feed):
      (title, path) = (item.title ?? name, "/c/\(item.conversation)")
    }
    let counts: [(text: MailTexts.Text, count: Int)] = [
      (.digestMentions, item.mentions), (.digestReplies, item.replies), (.digestUnread, item.unread),
      (.digestTopics, item.newTopics),
    ]
    var lines: [String] = []
    if let message = item.message?.message, case .live(let live) = message.state {
      let text = Texts.excerpt(live.text, scalars: WeeklyDigest.excerptScalars)
      if !text.isEmpty { lines.append(name.map { "\($0): \(text)" } ?? text) }
    }
    lines += item.topics.filter { $0.isNew == true }.prefix(WeeklyDigest.maxTopics).map(\.topic.title)
    return MailContent.Item(
      title: title ?? words(.digestUnknown), url: service.origin + path,
      facts: counts.filter { $0.count > 0 }.map { words($0.text, count: $0.count) }.joined(separator: " · "),
      lines: lines)
  }
}
