// Delivers events to outgoing webhooks. Each enabled endpoint has a worker: a task that sends one event at a time and
// stores the cursor after the server has accepted it. So an event is delivered at least once and in order, whichever side
// stops in between.
//
// A worker reads pages of the log as a subscriber does, with the rights of the endpoint's owner. Without events it waits
// for the hub, which wakes it after a commit in one of its streams.

public import Community
import ParleyCrypto
public import ParleyHTTPClient
import ParleyJSON
public import ParleyModel
import ParleyWire
import PubSub
import Storage

public actor WebhookDeliverer {
  private let community: Community
  private let client: UntrustedClient
  private let clock: @Sendable () -> Int64
  private let mailbox: Mailbox
  private var workers: [ID<WebhookEndpoint>: WebhookWorker] = [:]
  /// The workers to wake for an event.
  private var audiences: [EventStream: Set<ID<WebhookEndpoint>>] = [:]
  /// Requests under way, by the owner of the endpoint.
  private var sending: [ID<User>: Int] = [:]
  private var isStopping = false
  private var router: Task<Void, Never>?

  private static let page = PageBounds(events: 100)
  /// Older pages are read again, since rights and contents may have changed.
  private static let maxPageAge: Duration = .seconds(1)
  /// In milliseconds: an idle worker moves its cursor, so that it stays in the log.
  private static let maxIdleTime: Int64 = 600_000
  private static let minMoveInterval: Duration = .seconds(60)
  /// In milliseconds: before a retry when this server is busy.
  private static let busyDelay: Int64 = 200
  private static let faultDelay: Int64 = 5_000
  /// In milliseconds: the longest time before an outcome is stored again.
  private static let maxStoreDelay: Int64 = 60_000
  /// The requests of one owner under way: slow servers of one owner leave room for the others.
  private static let maxSendingPerOwner = 4
  /// Bytes of a response.
  private static let maxReplyBytes = 16_384
  private static let trimInterval = 64
  /// In milliseconds.
  private static let maxRetryTime: Int64 = 24 * 3_600_000
  private static let endpointsPerRead = 100

  /// The limits of the client for endpoints.
  public static var clientLimits: UntrustedLimits {
    var limits = UntrustedLimits()
    limits.timeout = 15_000
    limits.maxIdleConnections = 1
    return limits
  }

  /// - Parameter clock: milliseconds since 1970.
  public init(_ community: Community, _ client: UntrustedClient, clock: @escaping @Sendable () -> Int64) {
    self.community = community
    self.client = client
    self.clock = clock
    mailbox = community.hub.open()
  }

  /// The normalized URL; nil if no event may be sent there.
  public nonisolated func url(of link: String) -> String? { client.address(of: link, requiresTLS: true)?.description }

  // MARK: Workers

  /// Resumes the deliveries to all enabled endpoints.
  public func start() async {
    guard router == nil else { return }
    router = Task {
      for await _ in self.mailbox.wakeUps {
        let contents = self.mailbox.take()
        self.route(contents)
        if contents.isClosed { break }
      }
    }
    var last = ID<WebhookEndpoint>(0)
    while !isStopping {
      do throws(Refusal) {
        let found = try await community.enabledWebhookEndpoints(after: last, limit: Self.endpointsPerRead)
        for endpoint in found { examine(endpoint) }
        guard let end = found.last else { return }
        last = end
      } catch {
        try? await Task.sleep(for: .milliseconds(Self.faultDelay))
      }
    }
  }

  /// Reads an endpoint that was created, changed or enabled, or has a redelivery.
  public func examine(_ endpoint: ID<WebhookEndpoint>) {
    guard !isStopping else { return }
    if let worker = workers[endpoint] {
      (worker.mustExamine, worker.isStale) = (true, true)
      return worker.wake()
    }
    let worker = WebhookWorker(endpoint)
    workers[endpoint] = worker
    worker.task = Task { await self.run(worker) }
  }

  /// Starts no more deliveries, and waits for those that are sent. After `time` they are cancelled, and repeated at the
  /// next start.
  public func stop(within time: Duration = .seconds(3)) async {
    isStopping = true
    let tasks = workers.values.compactMap(\.task)
    for worker in workers.values { worker.wake() }
    let alarm = Task {
      try? await Task.sleep(for: time)
      for task in tasks { task.cancel() }
    }
    for task in tasks { await task.value }
    alarm.cancel()
    router?.cancel()
  }

  private func route(_ contents: Mailbox.Contents) {
    var woken: Set<ID<WebhookEndpoint>> = contents.hasGap ? Set(workers.keys) : []
    var isStale = contents.hasGap
    for broadcast in contents.broadcasts {
      switch broadcast {
      case .event(let publication): woken.formUnion(audiences[publication.event.stream] ?? [])
      case .access: isStale = true
      case .signal, .ended: break
      }
    }
    if isStale { for worker in workers.values { worker.isStale = true } }
    for endpoint in woken { workers[endpoint]?.hasEvents() }
  }

  private func run(_ worker: WebhookWorker) async {
    while !isStopping, !Task.isCancelled {
      worker.mustExamine = false
      do throws(Refusal) {
        guard let ready = try await community.readyWebhookEndpoint(worker.endpoint) else {
          // The endpoint may have been enabled since the query.
          if worker.mustExamine { continue }
          break
        }
        try await advance(worker, ready)
      } catch {
        // The store can't read or write now.
        await worker.wait(milliseconds: Self.faultDelay)
      }
    }
    subscribe(worker, to: [])
    workers[worker.endpoint] = nil
  }

  /// Delivers one event, or waits.
  private func advance(_ worker: WebhookWorker, _ ready: ReadyWebhookEndpoint) async throws(Refusal) {
    if let redelivery = ready.redelivery { return try await redeliver(redelivery, worker, ready) }
    // A later time was set before the clock went back.
    if let next = ready.endpoint.nextAttemptAt, case let left = next - clock(), 1...Self.maxRetryTime ~= left {
      return await worker.wait(milliseconds: left)
    }
    if let item = worker.next(maxAge: Self.maxPageAge) {
      return try await deliver(item, worker, ready)
    }
    let start = worker.position.map { StartPoint.after($0) } ?? community.startPoint(ready.cursor)
    worker.startReading()
    switch try await community.catchUp(ready.endpoint.topics, from: start, Self.page, for: ready.caller) {
    case .reset(let reason, let head): try await deliver(reason, at: head, worker, ready)
    case .page(let page):
      let isNew = subscribe(worker, to: Set(page.streams.keys))
      worker.take(page, ready.endpoint)
      guard worker.isEmpty else { return }
      try await move(worker, through: page.through, ready)
      // Events of new streams may have been missed between the page and the subscription.
      if !page.hasMore, !isNew { await worker.waitForEvents(milliseconds: Self.maxIdleTime) }
    }
  }

  /// Subscribes to the streams of a page. Returns whether some are new.
  @discardableResult
  private func subscribe(_ worker: WebhookWorker, to streams: Set<EventStream>) -> Bool {
    guard streams != worker.streams else { return false }
    let new = streams.subtracting(worker.streams)
    for stream in worker.streams.subtracting(streams) {
      audiences[stream]?.remove(worker.endpoint)
      guard audiences[stream]?.isEmpty == true else { continue }
      audiences[stream] = nil
      mailbox.unsubscribe(.stream(stream))
    }
    for stream in new {
      if audiences[stream] == nil { mailbox.subscribe(.stream(stream)) }
      audiences[stream, default: []].insert(worker.endpoint)
    }
    worker.streams = streams
    return !new.isEmpty
  }

  /// Stores the position now and then where no event was to be delivered.
  private func move(
    _ worker: WebhookWorker, through event: Int, _ ready: ReadyWebhookEndpoint
  ) async throws(Refusal) {
    worker.position = event
    let cursor = community.cursor(at: event)
    guard cursor != ready.cursor, worker.mayMove(after: Self.minMoveInterval) else { return }
    try await community.moveWebhookEndpoint(worker.endpoint, to: event)
  }

  // MARK: Deliveries

  private enum Outcome {
    case accepted(status: Int)
    case failed(WebhookFailure, status: Int?, WebhookDelivery.Fault?)
    /// Not sent.
    case postponed
  }

  private func deliver(
    _ item: WebhookWorker.Item, _ worker: WebhookWorker, _ ready: ReadyWebhookEndpoint
  ) async throws(Refusal) {
    let id = community.webhookID(of: item.event, for: worker.endpoint)
    let data = EventFrames.adding(community.cursor(at: item.event), to: item.text)
    let message = WebhookMessage(id, type: item.type, at: item.at, data: data)
    if try await deliver(message, event: item.event, through: item.event, worker, ready) {
      worker.didDeliver()
    }
  }

  /// Tells that events are missing, and goes on from the end of the log.
  private func deliver(
    _ reason: ResetReason, at head: Int, _ worker: WebhookWorker, _ ready: ReadyWebhookEndpoint
  ) async throws(Refusal) {
    var json = JSONWriter()
    json.object { json in
      json.field("event", "reset")
      json.field("reason", reason.rawValue)
      json.field("cursor", community.cursor(at: head))
    }
    let id = community.webhookID(ofResetAfter: ready.cursor, for: worker.endpoint)
    let message = WebhookMessage(id, type: "reset", at: clock(), data: json.bytes)
    if try await deliver(message, event: nil, through: head, worker, ready) { worker.position = head }
  }

  /// Sends a message and records the outcome. Returns whether the endpoint has moved behind `event`.
  private func deliver(
    _ message: WebhookMessage, event: Int?, through position: Int, _ worker: WebhookWorker,
    _ ready: ReadyWebhookEndpoint
  ) async throws(Refusal) -> Bool {
    let (outcome, duration) = try await send(message, ready)
    var delivery = NewWebhookDelivery(
      message.id, type: message.type, event: event, attempt: ready.failures + 1, duration: duration)
    switch outcome {
    case .postponed:
      await worker.wait(milliseconds: Self.busyDelay)
      return false
    case .accepted(let status):
      delivery.status = status
      let (accepted, trimsLog) = (delivery, worker.mayTrim(every: Self.trimInterval))
      try await store(worker) { () async throws(Refusal) in
        try await self.community.recordWebhookDelivery(
          accepted, to: worker.endpoint, through: position, trimsLog: trimsLog)
      }
      return true
    case .failed(let failure, let status, let fault):
      (delivery.status, delivery.fault) = (status, fault)
      // The retry reads the event again.
      worker.isStale = true
      let (failed, trimsLog) = (delivery, worker.mayTrim(every: Self.trimInterval))
      try await store(worker) { () async throws(Refusal) in
        try await self.community.recordWebhookFailure(failed, of: worker.endpoint, failure, trimsLog: trimsLog)
      }
      return false
    }
  }

  /// Stores an outcome. While the store refuses, as with a full disk, the event is not sent again.
  private func store(
    _ worker: WebhookWorker, _ write: () async throws(Refusal) -> Void
  ) async throws(Refusal) {
    var delay = Self.busyDelay
    while true {
      do throws(Refusal) { return try await write() } catch {
        guard error.isFault, !isStopping, !Task.isCancelled else { throw error }
      }
      await worker.wait(milliseconds: delay)
      delay = min(2 * delay, Self.maxStoreDelay)
    }
  }

  private func redeliver(
    _ redelivery: WebhookDelivery, _ worker: WebhookWorker, _ ready: ReadyWebhookEndpoint
  ) async throws(Refusal) {
    guard let event = redelivery.event, let item = try await community.webhookEvent(event, for: ready.caller),
      let read = WebhookWorker.Item(item)
    else {
      return try await community.recordWebhookRedelivery(
        redelivery, .failed, status: nil, fault: .unreadable, duration: nil)
    }
    let data = EventFrames.adding(community.cursor(at: event), to: read.text)
    let message = WebhookMessage(redelivery.webhookID, type: read.type, at: read.at, data: data)
    let (outcome, duration) = try await send(message, ready)
    switch outcome {
    case .postponed: await worker.wait(milliseconds: Self.busyDelay)
    case .accepted(let status):
      try await community.recordWebhookRedelivery(
        redelivery, .delivered, status: status, fault: nil, duration: duration)
    case .failed(_, let status, let fault):
      try await community.recordWebhookRedelivery(
        redelivery, .failed, status: status, fault: fault, duration: duration)
    }
  }

  /// Returns the outcome and the time in milliseconds.
  private func send(
    _ message: WebhookMessage, _ ready: ReadyWebhookEndpoint
  ) async throws(Refusal) -> (Outcome, Int) {
    let fields: Fields
    do throws(CryptoError) {
      fields = try message.fields(signedBy: ready.secrets, now: clock() / 1_000)
    } catch { throw .unavailable }
    let owner = ready.endpoint.owner
    guard sending[owner, default: 0] < Self.maxSendingPerOwner else { return (.postponed, 0) }
    sending[owner, default: 0] += 1
    defer { sending[owner] = sending[owner].flatMap { $0 > 1 ? $0 - 1 : nil } }
    let start = ContinuousClock.now
    let outcome: Outcome
    do throws(UntrustedFault) {
      let reply = try await client.post(
        message.body, fields, to: ready.endpoint.url, maxBytes: Self.maxReplyBytes)
      switch reply.status {
      case 200...299: outcome = .accepted(status: reply.status)
      case 410: outcome = .failed(.gone, status: reply.status, nil)
      default:
        let seconds = reply.retryAfter(at: Int(clock() / 1_000))
        outcome = .failed(.retry(after: seconds.map { Int64($0) * 1_000 }), status: reply.status, nil)
      }
    } catch .busy {
      outcome = .postponed
    } catch .timedOut {
      outcome = Task.isCancelled ? .postponed : .failed(.retry(after: nil), status: nil, .timedOut)
    } catch {
      // One fault for all: the log of deliveries is no map of the internal network.
      outcome = Task.isCancelled ? .postponed : .failed(.retry(after: nil), status: nil, .unreachable)
    }
    return (outcome, Int((ContinuousClock.now - start) / .milliseconds(1)))
  }
}
