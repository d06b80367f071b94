// Sends the queue of Web Push. A round queues new notifications, reads due messages, drops those that were read or lost meanwhile,
// and starts requests.
// Each answer is stored before the next round sees the row again; a row that no answer reached is sent again.

import ParleyModel
public import Storage
import WebPush

/// The worker of the queue.
public actor PushDeliverer {
  public nonisolated let service: PushService
  private let community: Community
  private let bounds: PushQueueBounds
  private let log: @Sendable (String) -> Void
  /// Rows with a request that is not answered.
  private var sending: [Int: Task<Void, Never>] = [:]
  /// The number of these rows by user.
  private var sendingOfUser: [ID<User>: Int] = [:]
  /// Messages that the bounds of the queue have cost.
  public private(set) var droppedCount = 0
  /// Requests to push services since the start.
  public private(set) var counts = DeliveryCounts()
  private var isStopping = false
  /// The id of the last examined notification. It is stored with the next row of the queue.
  private var lastNotification = 0
  /// Upper bound of the number of queued messages: the last count plus the rows added since. Counting takes longer than a round.
  private var maxWaiting: Int?
  /// The time of the last round; nil before the first.
  private var lastRound: Int64?

  /// The pause between two rounds.
  static let interval: Duration = .seconds(1)
  /// The pause while more messages are due than may be under way.
  static let busyInterval: Duration = .milliseconds(20)
  /// Maximum number of requests under way.
  public static let maxConcurrent = 32
  /// Minimum number of free requests for a round, so that it reads more than one message.
  private static let minFree = maxConcurrent / 4
  /// The same for the devices of one user. The user names their servers, so slow ones leave room for other users.
  static let maxConcurrentPerUser = 4
  /// The delay in milliseconds of a message beyond this bound.
  static let busyDelay: Int64 = 1_000
  /// The delay in milliseconds while a device of the user is in use, where the message may be read.
  static let onlineDelay: Int64 = 10_000
  /// The delay in milliseconds of a message whose conversation a device shows.
  static let shownDelay: Int64 = 5_000
  /// Minimum milliseconds between two messages of a conversation.
  static let topicInterval: Int64 = 30_000
  /// Maximum age of a queued message in milliseconds.
  static let maxAge: Int64 = 86_400_000
  /// The delays of the first and of later retries, in milliseconds.
  static let firstDelay: Int64 = 15_000
  static let maxDelay: Int64 = 3_600_000
  private static let trimChunk = 500
  /// Number of notifications that one transaction queues.
  static let windowLength = 500
  /// The smallest step back of the clock that counts, in milliseconds.
  private static let minClockChange: Int64 = 1_000
  /// Number of ids after which the last notification is stored even if it has no device.
  private static let maxUnstored = 20_000

  public init(
    _ community: Community, _ service: PushService, bounds: PushQueueBounds = PushQueueBounds(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.community = community
    self.service = service
    self.bounds = bounds
    self.log = log
  }

  /// Works until the task is cancelled.
  public func run() async {
    while !Task.isCancelled, !isStopping {
      let hasMore = await round()
      do { try await Task.sleep(for: hasMore ? Self.busyInterval : Self.interval) } catch { return }
    }
  }

  /// Starts no more requests, and ends those that wait for an answer. They are repeated after the next start.
  public func stop() async {
    isStopping = true
    let tasks = Array(sending.values)
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Waits for the answers of all requests.
  func finish() async {
    while let task = sending.values.first { await task.value }
  }

  enum Step {
    case send(DuePush, PushPayload, now: Int64)
    case postpone(DuePush, until: Int64)
    case drop(DuePush)
  }

  /// Queues new notifications. A window of them is one transaction, so that posts do not wait for long.
  func queueNotifications() async throws(Refusal) {
    while !Task.isCancelled, !isStopping {
      let (window, now) = try await community.store.readInBackground { [lastNotification] tx throws(Refusal) in
        (try tx.pushWindow(after: lastNotification, since: tx.now - Self.maxAge, limit: Self.windowLength), tx.now)
      }
      try await noteTime(now)
      guard window.end > window.start else { return }
      if window.hasDevices || window.end - window.stored > Self.maxUnstored {
        let added = try await community.store.write { tx throws(Refusal) in
          try tx.enqueuePushes(after: window.start, upTo: window.end, since: tx.now - Self.maxAge)
        }
        maxWaiting = maxWaiting.map { $0 + added }
      }
      lastNotification = window.end
    }
  }

  /// Starts due messages. A store that can't be read or written is tried again in the next round. Returns whether more messages
  /// may be due.
  @discardableResult
  func round() async -> Bool {
    guard !isStopping else { return false }
    guard Self.maxConcurrent - sending.count >= Self.minFree else { return true }
    let free = Self.maxConcurrent - sending.count
    let steps: [Step]
    let trimmed: Set<Int>
    do throws(Refusal) {
      try await queueNotifications()
      steps = try await self.steps(limit: free)
      trimmed = try await store(steps)
    } catch { return false }
    for case .send(let push, let payload, let now) in steps where !trimmed.contains(push.id) {
      let user = push.subscription.user
      self.sendingOfUser[user, default: 0] += 1
      sending[push.id] = Task {
        await self.send(push, payload, at: now)
        self.sending[push.id] = nil
        self.sendingOfUser[user] = self.sendingOfUser[user].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
    }
    return steps.count >= free
  }

  /// A clock that goes back makes no message wait longer.
  private func noteTime(_ now: Int64) async throws(Refusal) {
    let last: Int64
    if let lastRound {
      last = lastRound
    } else {
      // The clock may have been set back while the server was off.
      last = try await community.store.readInBackground { tx throws(Refusal) in try tx.newestPushTime() } ?? now
    }
    let change = last - now
    if change > Self.minClockChange {
      try await community.store.write { tx throws(Refusal) in try tx.advancePushes(by: change) }
    }
    lastRound = now
  }

  /// Looks at due messages, until there are requests up to the limit.
  func steps(limit: Int) async throws(Refusal) -> [Step] {
    let (busy, hub, service, zones) = (Set(sending.keys), community.hub, service, community.timeZones)
    return try await community.store.readInBackground { [sendingOfUser] tx throws(Refusal) in
      var (steps, counts, requests): ([Step], [ID<User>: Int], Int) = ([], sendingOfUser, 0)
      for push in try tx.duePushes(limit: Self.maxConcurrent + busy.count) where !busy.contains(push.id) {
        guard requests < limit else { break }
        let user = push.subscription.user
        guard counts[user, default: 0] < Self.maxConcurrentPerUser else {
          steps.append(.postpone(push, until: tx.now + Self.busyDelay))
          continue
        }
        let isShown = push.conversation.map { hub.isShown($0, to: user) } ?? false
        let step = try tx.step(
          for: push, isOnline: hub.isInUse(by: user), isShown: isShown, over: service, in: zones)
        if case .send = step {
          counts[user, default: 0] += 1
          requests += 1
        }
        steps.append(step)
      }
      return steps
    }
  }

  /// Returns the messages that the bounds of the queue have cost.
  private func store(_ steps: [Step]) async throws(Refusal) -> Set<Int> {
    var (postponed, dropped, users): ([(push: DuePush, until: Int64)], [DuePush], Set<ID<User>>) = ([], [], [])
    for step in steps {
      switch step {
      case .send(let push, _, _): users.insert(push.subscription.user)
      case .postpone(let push, let until): postponed.append((push: push, until: until))
      case .drop(let push): dropped.append(push)
      }
    }
    let mayBeFull = maxWaiting.map { $0 > bounds.ofSite } ?? true
    guard !steps.isEmpty || mayBeFull else { return [] }
    let (trimmed, left) = try await community.store.write {
      [postponed, dropped, users, bounds] tx throws(Refusal) -> (rows: Set<Int>, left: Int?) in
      try tx.postpone(postponed)
      try tx.drop(dropped)
      try tx.removeSentPushes(limit: Self.trimChunk)
      let ofUsers = try tx.trimPushes(of: users, to: bounds.ofUser)
      guard mayBeFull else { return (ofUsers, nil) }
      let ofSite = try tx.trimPushes(to: bounds.ofSite)
      return (ofUsers.union(ofSite.rows), ofSite.left)
    }
    if let left { maxWaiting = left }
    guard !trimmed.isEmpty else { return [] }
    droppedCount += trimmed.count
    log("The queue of push messages is full: \(trimmed.count) were dropped, \(droppedCount) since the start.")
    return trimmed
  }

  private static func timeToLive(of payload: PushPayload) -> Int {
    payload.data.flatMap { Notification.Kind(rawValue: $0.kind) }?.pushTime ?? Int(maxAge / 1_000)
  }

  private func send(_ push: DuePush, _ payload: PushPayload, at now: Int64) async {
    let subscription = push.subscription
    let outcome: PushOutcome
    do {
      let request = try PushRequest(
        payload, to: subscription.endpoint, PushKeys(point: subscription.point, auth: subscription.auth),
        signedBy: service.vapid, topic: try service.topic(push.topic, of: subscription.id),
        urgency: .init(rawValue: push.urgency) ?? .normal, timeToLive: Self.timeToLive(of: payload),
        isShort: push.isShort,
        now: now / 1_000)
      outcome = await service.send(request)
    } catch {
      log("A push message can't be encrypted: \(error)")
      outcome = .unreachable
    }
    // The next start sends it again.
    if outcome == .unreachable, Task.isCancelled { return }
    counts.add(payload.data?.kind ?? "", outcome.name)
    if case .refused(let status, let words) = outcome {
      log("The push service \(service.host(of: subscription.endpoint)) refused a message: \(status) \(words)")
    }
    let jitter = Int64.random(in: 0...Self.firstDelay)
    try? await community.store.write { tx throws(Refusal) in try tx.record(outcome, of: push, jitter: jitter) }
  }
}

extension Notification.Kind {
  /// The time to live of the push message in seconds, for devices that are off: hours for messages to a whole room, a day for
  /// messages to the user, a week for changes of the account.
  fileprivate var pushTime: Int {
    switch self {
    case .room: 4 * 3_600
    case .mention, .reply, .direct, .request, .report, .endpointDisabled, .alert: 86_400
    case .warning, .token, .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated, .recoveryCodeUsed,
      .signIn,
      .passkeyCreated, .passkeyDeleted, .passkeyCopied, .identityLinked, .identityUnlinked:
      7 * 86_400
    }
  }
}

extension ReadTransaction {
  fileprivate func step(
    for push: DuePush, isOnline: Bool, isShown: Bool, over service: PushService, in zones: TimeZones
  ) throws(Refusal) -> PushDeliverer.Step {
    guard now - push.createdAt < PushDeliverer.maxAge else { return .drop(push) }
    let end = push.createdAt + PushDeliverer.onlineDelay
    if isOnline, now < end { return .postpone(push, until: end) }
    guard let payload = try payload(of: push, over: service, in: zones) else { return .drop(push) }
    // The user sees it there, though the device has not told so yet.
    if isShown { return .postpone(push, until: now + PushDeliverer.shownDelay) }
    return .send(push, payload, now: now)
  }
}

extension WriteTransaction {
  fileprivate func record(_ outcome: PushOutcome, of push: DuePush, jitter: Int64) throws(Refusal) {
    let delay = min(PushDeliverer.firstDelay << Int64(min(push.attempts, 10)), PushDeliverer.maxDelay)
    switch outcome {
    case .accepted: try recordSent(push, next: now + PushDeliverer.topicInterval)
    case .gone: try deletePushSubscription(push.subscription.id)
    case .tooLarge: if push.isShort { try drop([push]) } else { try shorten(push) }
    case .refused: try drop([push])
    case .unreachable: try retry(push, at: now + delay + jitter, service: nil)
    case .busy(let seconds):
      let wait = seconds.map { min(max(Int64($0), 1) * 1_000, PushDeliverer.maxAge) }
      let time = now + (wait ?? delay) + jitter
      try retry(push, at: time, service: wait.map { now + $0 })
    }
  }
}
