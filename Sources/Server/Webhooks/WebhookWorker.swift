import ParleyJSON
import ParleyModel
import PubSub

/// The state of the deliveries to one endpoint. Confined to the deliverer.
final class WebhookWorker {
  /// An event to deliver.
  struct Item {
    let event: Int
    /// The kind of the event.
    let type: String
    /// Milliseconds since 1970.
    let at: Int64
    let text: [UInt8]

    /// Nil for an event without content: it keeps the offsets of a stream without a gap.
    init?(_ item: CatchUpPage.Item) {
      do {
        var object = try JSONValue(parsing: item.text).object()
        type = try object.string("event")
        let time: Timestamp? = try object.optional("at")
        guard let time else { return nil }
        at = Int64(time.milliseconds)
      } catch { return nil }
      (event, text) = (item.event, item.text)
    }
  }

  let endpoint: ID<WebhookEndpoint>
  var task: Task<Void, Never>?
  /// The endpoint has changed since it was read.
  var mustExamine = false
  /// The page was read with other rights.
  var isStale = false
  var streams: Set<EventStream> = []
  /// Every event up to it is delivered, or not for the endpoint. Nil before the first page.
  var position: Int?
  private var items: ArraySlice<Item> = []
  private var through = 0
  private var readAt = ContinuousClock.now
  /// No event of the page was sent yet.
  private var isFresh = false
  private var movedAt: ContinuousClock.Instant?
  private var isWaitingForEvents = false
  private var hasNewEvents = false
  private var recordCount = 0
  private let wakeUps: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation

  init(_ endpoint: ID<WebhookEndpoint>) {
    self.endpoint = endpoint
    (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: The page

  var isEmpty: Bool { items.isEmpty }

  /// The next event of the page, unless the page has to be read again.
  func next(maxAge: Duration) -> Item? {
    // The first event of a page is sent in any case: a slow server would read pages without end.
    if !isFresh, isStale || ContinuousClock.now - readAt > maxAge { items = [] }
    isFresh = false
    return items.first
  }

  /// The page reflects all changes until now.
  func startReading() {
    (isStale, hasNewEvents) = (false, false)
  }

  func take(_ page: CatchUpPage, _ endpoint: WebhookEndpoint) {
    let found = page.items.compactMap { Item($0) }
    items = ArraySlice(found.filter { endpoint.events.isEmpty || endpoint.events.contains($0.type) })
    through = page.through
    (readAt, isFresh) = (.now, true)
  }

  /// The first event of the page is delivered.
  func didDeliver() {
    guard let item = items.popFirst() else { return }
    position = items.isEmpty ? through : item.event
  }

  func mayMove(after interval: Duration) -> Bool {
    let now = ContinuousClock.now
    if let movedAt, now - movedAt < interval { return false }
    movedAt = now
    return true
  }

  func mayTrim(every count: Int) -> Bool {
    defer { recordCount += 1 }
    return recordCount.isMultiple(of: count)
  }

  // MARK: Waiting

  func wake() { wakeUp.yield() }

  /// Events of a stream were committed. A worker that waits for another reason reads them later.
  func hasEvents() {
    hasNewEvents = true
    if isWaitingForEvents { wakeUp.yield() }
  }

  func waitForEvents(milliseconds: Int64) async {
    guard !hasNewEvents else { return }
    isWaitingForEvents = true
    await wait(milliseconds: milliseconds)
    isWaitingForEvents = false
  }

  /// Waits for a wake-up, at most for this time.
  func wait(milliseconds: Int64) async {
    let alarm = Task { [wakeUp] in
      // A cancelled alarm wakes no later wait.
      do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { return }
      wakeUp.yield()
    }
    var iterator = wakeUps.makeAsyncIterator()
    _ = await iterator.next(isolation: #isolation)
    alarm.cancel()
  }
}
