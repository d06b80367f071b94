// Sends the queue of mail, one message after the other. A round looks up password resets, queues notifications that were not
// read in time, and sends due mails. Each answer is stored before the next message is sent; a mail that no answer reached is
// sent again.

import Mail
import ParleyModel
public import Storage

public actor MailDeliverer {
  public nonisolated let service: MailService
  private let community: Community
  private let bounds: MailQueueBounds
  private let log: @Sendable (String) -> Void
  /// While the mail server can't be used: the time of the next attempt, and the number of failed ones.
  private var outage: (until: Int64, attempts: Int)?
  /// Why mail waits; nil while the mail server can be used.
  public private(set) var outageReason: String?
  /// Mails that were given to the mail server since the start.
  public private(set) var counts = DeliveryCounts()
  /// Mails that the bounds of the queue have cost.
  public private(set) var droppedCount = 0
  /// The time of the last round; nil before the first.
  private var lastRound: Int64?

  /// The pause between two rounds.
  static let interval: Duration = .seconds(5)
  /// Milliseconds after which an unread notification is mailed.
  static let unreadDelay: Int64 = 900_000
  /// Maximum age of a mailed notification in milliseconds.
  static let maxAge = MailQueue.maxAge
  /// Minimum milliseconds between two mails about a conversation whose notifications stay unread.
  static let topicInterval: Int64 = 7 * 86_400_000
  /// Minimum milliseconds between two reset links of a user. `longResetInterval` follows `maxQuickResets` links in a day, so
  /// that requests of strangers do not fill a mailbox.
  static let resetInterval: Int64 = 300_000
  static let longResetInterval: Int64 = 7_200_000
  static let maxQuickResets = 5
  /// Maximum number of mails in a day to claim an imported user. Their addresses are those of people who may not know the site.
  static let maxClaims = 3
  /// Minimum milliseconds between two notices about replies to the same user.
  static let noticeInterval: Int64 = 3_600_000
  /// The delays of the first and of later retries, in milliseconds.
  static let firstDelay: Int64 = 30_000
  static let maxDelay: Int64 = 3_600_000
  static let maxOutageDelay: Int64 = 900_000
  /// Mail to an address stops at this number of refusals in a row.
  static let maxRefusals = 3
  /// Users with the same address who get a reset link.
  static let maxUsersOfAddress = 5
  /// Milliseconds of a day.
  static let day: Int64 = 86_400_000
  static let chunk = 20
  static let notificationChunk = 500
  /// Notifications that one read looks at.
  static let windowLength = 5_000
  /// In milliseconds: a clock that goes back by less is not noticed.
  private static let minClockChange: Int64 = 1_000

  public init(
    _ community: Community, _ service: MailService, bounds: MailQueueBounds = MailQueueBounds(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.community = community
    self.service = service
    self.bounds = bounds
    self.log = log
  }

  /// Works until the task is cancelled.
  public func run() async {
    while !Task.isCancelled {
      await round()
      do { try await Task.sleep(for: Self.interval) } catch { return }
    }
  }

  /// A store that can't be read or written is tried again in the next round.
  func round() async {
    do throws(Refusal) {
      try await noteTime()
      try await queueResets()
      try await queueNotifications()
      try await queueDigests()
      try await trim([])
      let due: [DueMail]? = try await community.store.readInBackground { [outage] tx throws(Refusal) in
        if let outage, tx.now < outage.until { return nil }
        return try tx.dueMails(limit: Self.chunk)
      }
      guard let due else { return }
      if due.isEmpty { (outage, outageReason) = (nil, nil) }
      try await trim(Set(due.map(\.user)))
      for mail in due where !Task.isCancelled {
        guard try await send(mail) else { return }
      }
    } catch { return }
  }

  /// A clock that goes back makes no mail wait longer.
  private func noteTime() async throws(Refusal) {
    let (now, last) = try await community.store.readInBackground { [lastRound] tx throws(Refusal) in
      if let lastRound { return (tx.now, lastRound) }
      // The clock may have been set back while the server was off.
      let newest = try tx.newestMailTime()
      return (tx.now, newest ?? tx.now)
    }
    let change = last - now
    if change > Self.minClockChange {
      try await community.store.write { tx throws(Refusal) in try tx.advanceMails(by: change) }
      outage = outage.map { ($0.until - change, $0.attempts) }
    }
    lastRound = now
  }

  /// Looks up the users of requested password resets.
  private func queueResets() async throws(Refusal) {
    while !Task.isCancelled {
      let logins = try await community.store.readInBackground { tx throws(Refusal) in
        try tx.passwordResets(limit: Self.chunk)
      }
      guard !logins.isEmpty else { return }
      try await community.store.write { tx throws(Refusal) in
        for login in logins {
          try tx.deletePasswordReset(login)
          for user in try tx.users(ofLogin: login) where try tx.user(user)?.mayResetByMail == true {
            try tx.enqueueMail(.account(.reset), of: user)
          }
          // Imported users have no password yet: they get a link to claim the account.
          guard login.utf8.contains(UInt8(ascii: "@")) else { continue }
          for claimed in try tx.claimableUsers(withEmail: login) {
            try tx.enqueueMail(.account(.reset), of: claimed.user.summary.id, to: claimed.email)
          }
        }
      }
    }
  }

  /// Queues notifications that were not read in time.
  private func queueNotifications() async throws(Refusal) {
    while !Task.isCancelled {
      let (found, last, isNew) = try await community.store.readInBackground { tx throws(Refusal) in
        let window = try tx.mailWindow(until: tx.now - Self.unreadDelay, limit: Self.windowLength)
        guard window.end > window.last else { return ([UnreadNotification](), window.last, false) }
        let page = try tx.unreadNotifications(
          after: window.last, upTo: window.end, since: tx.now - Self.maxAge, limit: Self.notificationChunk)
        return (page.found, page.last, true)
      }
      guard isNew else { return }
      try await community.store.write { tx throws(Refusal) in
        for notification in found where !notification.kind.isSecurity {
          try tx.enqueueMail(
            notification.conversation.map { .conversation($0) } ?? .notification(notification.id),
            of: notification.user)
        }
        try tx.setMailCursor(last)
      }
      try await trim(Set(found.map(\.user)))
    }
  }

  /// Holds the bounds of the site and of some users.
  private func trim(_ users: Set<ID<User>>) async throws(Refusal) {
    let full = try await community.store.readInBackground { [bounds] tx throws(Refusal) in
      var full: [ID<User>?] = []
      for user in users where try tx.waitingMailCount(of: user) > bounds.ofUser { full.append(user) }
      if try tx.waitingMailCount() > bounds.ofSite { full.append(nil) }
      return full
    }
    guard !full.isEmpty else { return }
    let count = try await community.store.write { [bounds] tx throws(Refusal) in
      var count = 0
      for user in full { count += try tx.trimMails(of: user, to: user == nil ? bounds.ofSite : bounds.ofUser) }
      return count
    }
    droppedCount += count
    log("The queue of mails is full: \(count) were dropped, \(droppedCount) since the start.")
  }

  /// Queues weekly digests as long as the queue has room: they never keep other mail waiting. Those for which there is no room
  /// remain due.
  private func queueDigests() async throws(Refusal) {
    guard outage == nil else { return }
    while !Task.isCancelled {
      let (found, room) = try await community.store.readInBackground { tx throws(Refusal) in
        let due = try tx.dueMails(limit: Self.chunk)
        return (try tx.digestRecipients(limit: WeeklyDigest.chunk), Self.chunk - due.count)
      }
      guard !found.isEmpty, room > 0 else { return }
      try await community.store.write { [zones = community.timeZones] tx throws(Refusal) in
        var room = room
        for recipient in found where room > 0 {
          if try tx.planDigest(of: recipient, in: zones) { room -= 1 }
        }
      }
    }
  }

  /// Sends one mail and stores the answer. Returns false if the mail server can't be used.
  private func send(_ mail: DueMail) async throws(Refusal) -> Bool {
    guard let composed = try await compose(mail) else {
      try await community.store.write { tx throws(Refusal) in try tx.drop(mail) }
      return true
    }
    var message = composed.message
    if message.returnPath == .sender, let address = service.bounceAddress(of: mail, to: message.to, at: message.date) {
      message.returnPath = .address(address)
    }
    let outcome = await service.send(message)
    counts.add(mail.kind.rawValue, outcome.name)
    switch outcome {
    case .accepted, .refused, .deferred:
      (outage, outageReason) = (nil, nil)
      if case .refused(let reply) = outcome {
        log("The mail server refused a mail (\(mail.kind.rawValue)): \(reply.withoutAddresses)")
      }
      let jitter = Int64.random(in: 0...Self.firstDelay)
      try await community.store.write { tx throws(Refusal) in try tx.record(outcome, of: composed, mail, jitter) }
      return true
    case .signInRefused, .insecure, .untrusted, .unreachable, .timedOut:
      // The next start sends it again.
      guard !Task.isCancelled else { return false }
      // The mail itself may be the cause, so the others go first next time.
      if outcome == .timedOut {
        try await community.store.write { tx throws(Refusal) in
          try tx.retry(mail, at: tx.now + tx.delay(of: mail))
        }
      }
      await noteOutage(outcome)
      return false
    }
  }

  private func compose(_ mail: DueMail) async throws(Refusal) -> ComposedMail? {
    let service = service
    if mail.kind == .notification || mail.kind == .weeklyDigest {
      let (bounds, zones) = (community.bounds, community.timeZones)
      return try await community.store.readInBackground { tx throws(Refusal) in
        guard tx.now - mail.createdAt < Self.maxAge else { return nil }
        return mail.kind == .notification
          ? try tx.notificationMail(mail, over: service, in: zones) : try tx.digestMail(mail, bounds, over: service)
      }
    }
    return try await community.store.write { tx throws(Refusal) in
      guard tx.now - mail.createdAt < Self.maxAge else { return nil }
      return try tx.accountMail(mail, over: service)
    }
  }

  private func noteOutage(_ outcome: MailOutcome) async {
    let attempts = (outage?.attempts ?? 0) + 1
    outageReason = outcome.description
    if attempts == 1 { log("Mail waits: \(outcome)") }
    let delay = min(Self.firstDelay << Int64(min(attempts - 1, 10)), Self.maxOutageDelay)
    let now = try? await community.store.readInBackground { tx throws(Refusal) in tx.now }
    outage = (until: (now ?? 0) + delay, attempts: attempts)
  }
}

extension ReadTransaction {
  /// The users with this name or address.
  fileprivate func users(ofLogin login: String) throws(Refusal) -> [ID<User>] {
    if login.utf8.contains(UInt8(ascii: "@")) {
      return try users(withEmail: login, limit: MailDeliverer.maxUsersOfAddress)
    }
    return try users(named: [UserName.key(login)]).map(\.value)
  }
}

extension WriteTransaction {
  fileprivate func delay(of mail: DueMail) -> Int64 {
    min(MailDeliverer.firstDelay << Int64(min(mail.attempts, 10)), MailDeliverer.maxDelay)
  }

  fileprivate func record(
    _ outcome: MailOutcome, of composed: ComposedMail, _ mail: DueMail, _ jitter: Int64
  ) throws(Refusal) {
    switch outcome {
    case .accepted:
      switch mail.kind {
      case .notification:
        let next = mail.conversation == nil ? nil : now + MailDeliverer.topicInterval
        try recordSent(mail, notification: composed.notification, next: next)
      case .reset:
        let count = try countMailedReset(of: mail.user, window: MailDeliverer.day)
        let isClaim = try user(mail.user)?.standing?.isImported == true
        let isQuick = count < (isClaim ? MailDeliverer.maxClaims : MailDeliverer.maxQuickResets)
        let pause = isClaim ? MailDeliverer.day : MailDeliverer.longResetInterval
        let interval = isQuick ? MailDeliverer.resetInterval : pause
        try recordSent(mail, notification: nil, next: now + interval)
      case .replyNotice: try recordSent(mail, notification: nil, next: now + MailDeliverer.noticeInterval)
      case .confirmation, .passwordChanged, .addressChanged, .roleChanged, .weeklyDigest:
        try recordSent(mail, notification: nil, next: nil)
      }
    case .refused(let reply):
      try drop(mail)
      let confirmed = try mailRecipient(mail.user)?.address
      if reply.isRecipient, mail.address == nil || mail.address == confirmed {
        try noteEmailRefused(of: mail.user, limit: MailDeliverer.maxRefusals)
      }
    case .deferred:
      try retry(mail, at: now + delay(of: mail) + jitter)
    case .signInRefused, .insecure, .untrusted, .unreachable, .timedOut: break
    }
  }
}
