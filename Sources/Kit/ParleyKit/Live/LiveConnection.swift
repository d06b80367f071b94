// A live connection connects, resumes from its cursor and reconnects with backoff. It is a pull-based sequence: it works only
// while a task awaits the next element, so a slow consumer applies backpressure to the socket. One task iterates at a time.
//
// Each event has an offset in its stream. If an offset is missing, the missing events are fetched before the next one is
// delivered.

import ParleyJSON
public import ParleyModel
import Synchronization

/// A connection over which events arrive. It connects again by itself.
public final class LiveConnection: AsyncSequence, Sendable {
  public typealias Element = LiveUpdate
  public typealias Failure = Never

  /// Intervals in milliseconds.
  public struct Times: Sendable {
    /// Silence before a ping.
    public var heartbeatInterval = 25_000
    /// Timeout of a ping.
    public var heartbeatTimeout = 10_000
    /// Timeout of the ping after a network change.
    public var networkChangeTimeout = 3_000

    /// The usual timeouts.
    public init() {}
  }

  private struct State {
    var topics: [LiveTopic]
    /// The topics of the socket.
    var subscribed: [LiveTopic] = []
    /// The number of commands, which are their ids.
    var commands = 0
    var cursor: String?
    var offsets: StreamOffsets
    var socket: LiveSocket?
    var heartbeat: Task<Void, Never>?
    var backoff: Task<Void, Never>?
    /// Updates to deliver before reading the socket.
    var pending: [LiveUpdate] = []
    var attempts = 0
    /// Milliseconds before the next attempt.
    var delay = 0
    var hasReceived = false
    var isEnded = false

    /// The commands that change the topics of the socket to those wanted.
    mutating func subscriptionCommands() -> [String] {
      let (wanted, current) = (topics, subscribed)
      subscribed = wanted
      return [
        command("subscribe", wanted.filter { !current.contains($0) }),
        command("unsubscribe", current.filter { !wanted.contains($0) }),
      ].compactMap(\.self)
    }

    private mutating func command(_ name: String, _ topics: [LiveTopic]) -> String? {
      guard !topics.isEmpty else { return nil }
      commands += 1
      var json = JSONWriter()
      json.object { json in
        json.field("id", commands)
        json.field("do", name)
        json.field("topics", topics)
      }
      return String(decoding: json.bytes, as: UTF8.self)
    }
  }

  private let client: Client
  private let times: Times
  private let state: Mutex<State>

  /// Events per page when filling a gap.
  private static let pageSize = 200

  /// - Parameters:
  ///   - topics: the streams whose events arrive.
  ///   - cursor: the position to resume from; nil for now.
  ///   - offsets: the last known offset of each stream.
  public init(
    _ client: Client, topics: [LiveTopic] = [.me], after cursor: String? = nil, offsets: [String: Int] = [:],
    times: Times = Times()
  ) {
    self.client = client
    self.times = times
    state = Mutex(State(topics: topics, cursor: cursor, offsets: StreamOffsets(offsets)))
  }

  public func makeAsyncIterator() -> Iterator { Iterator(connection: self) }

  public struct Iterator: AsyncIteratorProtocol {
    let connection: LiveConnection

    public mutating func next() async -> LiveUpdate? { await connection.next() }
    public mutating func next(isolation actor: isolated (any Actor)?) async -> LiveUpdate? { await connection.next() }
  }

  /// The position after the last delivered event.
  public var cursor: String? { state.withLock { $0.cursor } }

  /// Replaces the topics. The events of new ones arrive from now on; an update `live` follows once they do.
  public func setTopics(_ topics: [LiveTopic]) async {
    state.withLock { $0.topics = topics }
    await updateSubscriptions()
  }

  /// Subscribes the socket to the topics that it lacks, and ends the others.
  private func updateSubscriptions() async {
    let (socket, commands) = state.withLock { state in
      let commands = state.socket == nil ? [] : state.subscriptionCommands()
      return (state.socket, commands)
    }
    guard let socket else { return }
    do throws(LiveSocket.Ending) { for command in commands { try await socket.send(command) } } catch {
      // The task that reads the socket reports its end.
      return
    }
  }

  // MARK: Hints

  /// Call it when the network may be available again or the app becomes active. Ends a backoff and pings an open
  /// connection.
  public func networkAvailable() {
    let (socket, backoff) = state.withLock { state in
      (state.attempts, state.delay) = (0, 0)
      return (state.socket, state.backoff)
    }
    backoff?.cancel()
    if let socket { startHeartbeat(socket, heartbeatInterval: 0, heartbeatTimeout: times.networkChangeTimeout) }
  }

  /// Call it when the network is lost. Closes the socket without waiting for a timeout.
  public func networkLost() {
    state.withLock { $0.socket }?.close(1_000)
  }

  /// Resumes after a `reset`, when the cache has been verified.
  public func resume(from cursor: String, offsets: [String: Int] = [:]) {
    state.withLock { state in
      state.cursor = cursor
      state.offsets = StreamOffsets(offsets)
    }
  }

  /// Ends the connection for good.
  public func stop() {
    let (socket, backoff, heartbeat) = state.withLock { state in
      state.isEnded = true
      return (state.socket, state.backoff, state.heartbeat)
    }
    heartbeat?.cancel()
    backoff?.cancel()
    socket?.close(1_000)
  }

  // MARK: The sequence

  private func next() async -> LiveUpdate? {
    while !Task.isCancelled {
      let (pending, isEnded) = state.withLock { state in
        (state.pending.isEmpty ? nil : state.pending.removeFirst(), state.isEnded)
      }
      if isEnded { break }
      if let pending {
        recordDelivered(pending)
        return pending
      }
      await advance()
    }
    stop()
    return nil
  }

  /// Moves the cursor behind a delivered update.
  private func recordDelivered(_ update: LiveUpdate) {
    state.withLock { state in
      switch update {
      case .event(let frame):
        if let stream = frame.stream, let offset = frame.offset { state.offsets.record(offset, in: stream) }
        if let id = frame.id, var cursor = state.cursor.flatMap({ EventCursor($0) }), id > cursor.event {
          cursor.event = id
          state.cursor = cursor.description
        }
      case .live(let cursor), .restarted(let cursor): state.cursor = cursor
      case .ended: state.isEnded = true
      case .reset, .signal, .disconnected: break
      }
    }
  }

  /// One step: connects, backs off or reads a frame.
  private func advance() async {
    let (socket, delay) = state.withLock { state in (state.socket, state.delay) }
    guard let socket else {
      if delay > 0 { await backOff(delay) }
      return await connect()
    }
    do throws(LiveSocket.Ending) {
      let text = try await socket.next()
      state.withLock { $0.hasReceived = true }
      await receive(text)
    } catch {
      socketClosed(error)
    }
  }

  private func connect() async {
    guard !state.withLock({ $0.isEnded }), !Task.isCancelled else { return }
    let (cursor, topics) = state.withLock { state in
      state.subscribed = state.topics
      return (state.cursor, state.topics)
    }
    var request = Request<Void>.openRealtime(topics: topics, after: cursor)
    request.isRepeatable = false
    do throws(ClientFault) {
      let socket = try await client.connect(request)
      let isActive = state.withLock { state in
        state.socket = state.isEnded ? nil : socket
        return !state.isEnded
      }
      guard isActive else { return socket.close() }
      startHeartbeat(socket, heartbeatInterval: times.heartbeatInterval, heartbeatTimeout: times.heartbeatTimeout)
      // The topics may have changed meanwhile.
      await updateSubscriptions()
    } catch {
      disconnected(error)
    }
  }

  private func backOff(_ milliseconds: Int) async {
    let pause = client.retryPolicy.sleep
    let backoff = Task { _ = try? await pause(milliseconds) }
    let isEnded = state.withLock { state in
      state.backoff = backoff
      return state.isEnded
    }
    if isEnded { backoff.cancel() }
    await withTaskCancellationHandler {
      await backoff.value
    } onCancel: {
      backoff.cancel()
    }
    state.withLock { ($0.backoff, $0.delay) = (nil, 0) }
  }

  // MARK: Frames

  private func receive(_ text: String) async {
    let frame: LiveFrame
    do throws(JSONError) { frame = try LiveFrame(text) } catch { return receiveAnswer(text) }
    switch frame.name {
    case "complete":
      guard let cursor = frame.cursor else { return }
      state.withLock { $0.attempts = 0 }
      enqueue(.live(cursor: cursor))
    case "restarted":
      guard let cursor = frame.cursor else { return }
      enqueue(.restarted(cursor: cursor))
    case "reset":
      guard let cursor = frame.cursor else { return }
      state.withLock { $0.offsets.reset() }
      enqueue(.reset(reason: frame.reason ?? "", cursor: cursor))
    case "lagging":
      // The server has dropped events because this client is slow. The cursor is before them, so a new connection delivers
      // them as fast as the client reads.
      dropConnection(.interrupted("the server dropped events"))
    case "notice", "banned": return
    default:
      guard let stream = frame.stream, let offset = frame.offset else { return enqueue(.signal(frame)) }
      switch state.withLock({ $0.offsets.order(of: offset, in: stream) }) {
      case .known: return
      case .next: enqueue(.event(frame))
      case .gap:
        if await fetch(stream, upTo: offset - 1) { enqueue(.event(frame)) }
      }
    }
  }

  /// Receives the answer to a command. A frame of a newer server is none.
  private func receiveAnswer(_ text: String) {
    do throws(JSONError) {
      var answer = try JSONValue(parsing: Array(text.utf8)).object()
      guard try answer.optional("re") as Int? != nil else { return }
      guard try answer.bool("ok") else { return dropConnection(.interrupted("a subscription was refused")) }
      if let cursor: String = try answer.optional("cursor") { enqueue(.live(cursor: cursor)) }
    } catch { return }
  }

  private func enqueue(_ update: LiveUpdate) { state.withLock { $0.pending.append(update) } }

  /// Fills a gap of a stream. If that fails, the connection reconnects from the cursor, which is before the gap.
  private func fetch(_ stream: String, upTo last: Int) async -> Bool {
    var held = state.withLock { $0.offsets.last[stream] ?? last }
    while held < last {
      do throws(ClientFault) {
        let pageSize = try await client.send(missing(of: stream, after: held))
        let before = held
        for frame in pageSize.elements {
          guard let offset = frame.offset, offset > held, offset <= last else { continue }
          enqueue(.event(frame))
          held = offset
        }
        guard held > before else { throw .invalidResponse("events of \(stream) are missing") }
      } catch {
        dropConnection(error)
        return false
      }
    }
    return true
  }

  private func missing(of stream: String, after offset: Int) -> Request<Page<LiveFrame>> {
    Request(
      .get, "/streams/{stream}/events", [stream],
      query: [QueryItem("after_offset", offset), QueryItem("limit", Self.pageSize)])
  }

  // MARK: Disconnects

  private func socketClosed(_ ending: LiveSocket.Ending) {
    // Close codes from 4500 on are final.
    let fault = ClientFault.interrupted("\(ending.code) \(ending.reason)")
    guard (4_500..<5_000).contains(ending.code) else { return disconnected(fault) }
    switch ending.reason {
    case CloseReason.ended.code: end(.sessionEnded)
    case CloseReason.unidentified.code: end(.signedOut)
    default: end(fault)
    }
  }

  private func dropConnection(_ fault: ClientFault) {
    state.withLock { $0.socket }?.close(1_000)
    disconnected(fault)
  }

  private func disconnected(_ fault: ClientFault) {
    guard fault.isTemporary else { return end(fault) }
    let heartbeat = state.withLock { state in
      state.socket = nil
      state.attempts += 1
      state.delay =
        fault.retryDelay.map { Int($0 / .milliseconds(1)) } ?? client.retryPolicy.delay(after: state.attempts)
      state.pending.append(.disconnected(fault, milliseconds: state.delay))
      return state.heartbeat
    }
    heartbeat?.cancel()
  }

  private func end(_ fault: ClientFault) {
    let heartbeat = state.withLock { state in
      state.socket = nil
      state.pending.append(.ended(fault))
      return state.heartbeat
    }
    heartbeat?.cancel()
  }

  // MARK: Heartbeats

  /// Pings the silent server and closes the socket after a timeout, also while no task awaits an element.
  private func startHeartbeat(_ socket: LiveSocket, heartbeatInterval: Int, heartbeatTimeout: Int) {
    let pause = client.retryPolicy.sleep
    let times = self.times
    let heartbeat = Task { [weak self] in
      var (heartbeatInterval, heartbeatTimeout) = (heartbeatInterval, heartbeatTimeout)
      while !Task.isCancelled {
        do { try await pause(heartbeatInterval) } catch { return }
        guard let self else { return }
        if self.state.withLock({ state in
          defer { state.hasReceived = false }
          return state.hasReceived && heartbeatInterval > 0
        }) {
          continue
        }
        guard await Self.respondsToPing(socket, within: heartbeatTimeout, pause) else { return socket.close(1_000) }
        (heartbeatInterval, heartbeatTimeout) = (times.heartbeatInterval, times.heartbeatTimeout)
      }
    }
    let before = state.withLock { state in
      defer { state.heartbeat = heartbeat }
      return state.heartbeat
    }
    before?.cancel()
  }

  private static func respondsToPing(
    _ socket: LiveSocket, within milliseconds: Int, _ pause: @escaping @Sendable (Int) async throws -> Void
  ) async -> Bool {
    let timeout = Task {
      do { try await pause(milliseconds) } catch { return }
      socket.close(1_000)
    }
    defer { timeout.cancel() }
    do throws(LiveSocket.Ending) {
      try await socket.ping()
      return true
    } catch {
      return false
    }
  }
}

extension ClientFault {
  /// The session is missing or has expired.
  static let signedOut = signedOut(.unidentified)
  /// The server has ended the session.
  static let sessionEnded = signedOut(.ended)

  private static func signedOut(_ reason: CloseReason) -> ClientFault {
    let problem = #"{"code":"\#(reason.code)","status":401,"title":"Sign in first."}"#
    return RawResponse(status: 401, fields: [], body: Array(problem.utf8)).fault
  }
}
