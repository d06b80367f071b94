// Following along. It connects, goes on from the cursor, and comes back by itself when the connection is lost. It is a
// sequence that does its work while somebody waits for its next element: who is slow is not sent more, because the socket is
// not read. One task asks at a time.
//
// Nothing is believed to be whole because it came: each event has its offset in its stream, and where one is missing, it is
// fetched before what follows is told.

import ParleyJSON
import Synchronization

public final class LiveConnection: AsyncSequence, Sendable {
  public typealias Element = LiveNews
  public typealias Failure = Never

  /// In milliseconds.
  public struct Times: Sendable {
    /// Without a word of the server it is asked whether it is there.
    public var quiet = 25_000
    /// So long it may take to answer that.
    public var patience = 10_000
    /// After the network came back, so long.
    public var hurriedPatience = 3_000

    public init() {}
  }

  private struct State {
    var cursor: String?
    var offsets: StreamOffsets
    var socket: LiveSocket?
    var heart: Task<Void, Never>?
    var waiting: Task<Void, Never>?
    /// Told before anything else.
    var pending: [LiveNews] = []
    var tries = 0
    var isHeard = false
    var isEnded = false
  }

  private let client: Client
  private let topics: [String]
  private let times: Times
  private let state: Mutex<State>

  /// Events of a stream that are fetched at once.
  private static let page = 200

  /// - Parameters:
  ///   - topics: `me`, `conversation:12`, `forum:3`, `presence`, `app:com.example.game`.
  ///   - cursor: where to go on; from now on without one.
  ///   - offsets: how far each stream is held, if that is known.
  public init(
    _ client: Client, topics: [String] = ["me"], after cursor: String? = nil, offsets: [String: Int] = [:],
    times: Times = Times()
  ) {
    self.client = client
    self.topics = topics
    self.times = times
    state = Mutex(State(cursor: cursor, offsets: StreamOffsets(offsets)))
  }

  public func makeAsyncIterator() -> Iterator { Iterator(connection: self) }

  public struct Iterator: AsyncIteratorProtocol {
    let connection: LiveConnection

    public mutating func next() async -> LiveNews? { await connection.next() }
    public mutating func next(isolation actor: isolated (any Actor)?) async -> LiveNews? { await connection.next() }
  }

  /// Everything up to here has been told.
  public var cursor: String? { state.withLock { $0.cursor } }

  // MARK: Hints

  /// The network may be back, or the app is in front again: a pause ends now, and an open connection is asked at once
  /// whether it still is one.
  public func hurry() {
    let (socket, waiting) = state.withLock { state in
      state.tries = 0
      return (state.socket, state.waiting)
    }
    waiting?.cancel()
    if let socket { beat(socket, quiet: 0, patience: times.hurriedPatience) }
  }

  /// The network is gone: there is no use in waiting for an answer.
  public func unreachable() {
    state.withLock { $0.socket }?.close(1_000)
  }

  /// After a `reset`: goes on from here, when what is held has been fetched anew.
  public func goOn(from cursor: String, offsets: [String: Int] = [:]) {
    state.withLock { state in
      state.cursor = cursor
      state.offsets = StreamOffsets(offsets)
    }
  }

  /// Ends it.
  public func stop() {
    let (socket, waiting, heart) = state.withLock { state in
      state.isEnded = true
      return (state.socket, state.waiting, state.heart)
    }
    heart?.cancel()
    waiting?.cancel()
    socket?.close(1_000)
  }

  // MARK: The sequence

  private func next() async -> LiveNews? {
    while !Task.isCancelled {
      let (pending, isEnded) = state.withLock { state in
        (state.pending.isEmpty ? nil : state.pending.removeFirst(), state.isEnded)
      }
      if isEnded { break }
      if let pending {
        took(pending)
        return pending
      }
      await advance()
    }
    stop()
    return nil
  }

  /// What is handed out counts as applied: the cursor stands behind it.
  private func took(_ news: LiveNews) {
    state.withLock { state in
      switch news {
      case .event(let frame):
        if let stream = frame.stream, let offset = frame.offset { state.offsets.took(offset, in: stream) }
        if let id = frame.id, let cursor = state.cursor, let dot = cursor.firstIndex(of: "."),
          let held = Int(cursor[cursor.index(after: dot)...]), id > held
        {
          state.cursor = cursor[...dot] + String(id)
        }
      case .live(let cursor): state.cursor = cursor
      case .ended: state.isEnded = true
      case .reset, .signal, .away: break
      }
    }
  }

  /// One step: connects, waits, or reads a frame.
  private func advance() async {
    let (socket, pause) = state.withLock { state in (state.socket, state.socket == nil ? state.tries : 0) }
    guard let socket else {
      if pause > 0 { await waitBeforeTrying(pause) }
      return await connect()
    }
    do throws(LiveSocket.Ending) {
      let text = try await socket.next()
      state.withLock { $0.isHeard = true }
      await take(text)
    } catch {
      lost(error)
    }
  }

  private func connect() async {
    guard !state.withLock({ $0.isEnded }), !Task.isCancelled else { return }
    let cursor = state.withLock { $0.cursor }
    var request = Request<Void>.realtime(topics: topics.joined(separator: ","), after: cursor)
    request.isRepeatable = false
    do throws(ClientFault) {
      let socket = try await client.connect(request)
      let isWanted = state.withLock { state in
        state.socket = state.isEnded ? nil : socket
        return !state.isEnded
      }
      guard isWanted else { return socket.close() }
      beat(socket, quiet: times.quiet, patience: times.patience)
    } catch {
      gone(error)
    }
  }

  private func waitBeforeTrying(_ tries: Int) async {
    let milliseconds = client.retrying.delay(after: tries)
    let pause = client.retrying.pause
    let waiting = Task { _ = try? await pause(milliseconds) }
    let isEnded = state.withLock { state in
      state.waiting = waiting
      return state.isEnded
    }
    if isEnded { waiting.cancel() }
    await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
    state.withLock { $0.waiting = nil }
  }

  // MARK: What comes

  private func take(_ text: String) async {
    let frame: LiveFrame
    // An answer to a command, or what a newer server says: nothing that we wait for.
    do throws(JSONError) { frame = try LiveFrame(text) } catch { return }
    switch frame.name {
    case "complete":
      guard let cursor = frame.cursor else { return }
      state.withLock { $0.tries = 0 }
      tell(.live(cursor: cursor))
    case "reset":
      guard let cursor = frame.cursor else { return }
      state.withLock { $0.offsets.forgetAll() }
      tell(.reset(reason: frame.reason ?? "", cursor: cursor))
    case "lagging":
      // We were too slow, and of this stream nothing more comes. The cursor stands before what was left out, so a new
      // connection tells all of it, no faster than it is taken.
      drop(.interrupted("the server had to leave events out"))
    case "notice": return
    default:
      guard let stream = frame.stream, let offset = frame.offset else { return tell(.signal(frame)) }
      switch state.withLock({ $0.offsets.place(of: offset, in: stream) }) {
      case .known: return
      case .next: tell(.event(frame))
      case .gap:
        if await fetch(stream, upTo: offset - 1) { tell(.event(frame)) }
      }
    }
  }

  private func tell(_ news: LiveNews) { state.withLock { $0.pending.append(news) } }

  /// Fetches what is missing of a stream. Where that fails the connection begins anew, from the cursor, which stands before
  /// the gap.
  private func fetch(_ stream: String, upTo last: Int) async -> Bool {
    var held = state.withLock { $0.offsets.last[stream] ?? last }
    while held < last {
      do throws(ClientFault) {
        let page = try await client.send(missing(of: stream, after: held))
        let before = held
        for frame in page.elements {
          guard let offset = frame.offset, offset > held, offset <= last else { continue }
          tell(.event(frame))
          held = offset
        }
        guard held > before else { throw .notUnderstood("events of \(stream) are missing") }
      } catch {
        drop(error)
        return false
      }
    }
    return true
  }

  private func missing(of stream: String, after offset: Int) -> Request<Page<LiveFrame>> {
    Request(
      .get, "/streams/{stream}/events", [stream],
      query: [QueryItem("after_offset", offset), QueryItem("limit", Self.page)])
  }

  // MARK: Losing it

  private func lost(_ ending: LiveSocket.Ending) {
    // The contract: from 4500 on coming back is of no use.
    let fault = ClientFault.interrupted("\(ending.code) \(ending.reason)")
    guard (4_500..<5_000).contains(ending.code) else { return gone(fault) }
    end(ending.reason == "session_ended" || ending.reason == "unauthenticated" ? .signedOut : fault)
  }

  private func drop(_ fault: ClientFault) {
    state.withLock { $0.socket }?.close(1_000)
    gone(fault)
  }

  private func gone(_ fault: ClientFault) {
    guard fault.isTemporary else { return end(fault) }
    let heart = state.withLock { state in
      state.socket = nil
      state.tries += 1
      state.pending.append(.away(fault, milliseconds: client.retrying.delay(after: state.tries)))
      return state.heart
    }
    heart?.cancel()
  }

  private func end(_ fault: ClientFault) {
    let heart = state.withLock { state in
      state.socket = nil
      state.pending.append(.ended(fault))
      return state.heart
    }
    heart?.cancel()
  }

  // MARK: Heartbeats

  /// Closes the socket when the server is silent for too long, also while nobody asks for the next element.
  private func beat(_ socket: LiveSocket, quiet: Int, patience: Int) {
    let pause = client.retrying.pause
    let times = self.times
    let heart = Task { [weak self] in
      var (quiet, patience) = (quiet, patience)
      while !Task.isCancelled {
        do { try await pause(quiet) } catch { return }
        guard let self else { return }
        if self.state.withLock({ state in
          defer { state.isHeard = false }
          return state.isHeard && quiet > 0
        }) {
          continue
        }
        guard await Self.answers(socket, within: patience, pause) else { return socket.close(1_000) }
        (quiet, patience) = (times.quiet, times.patience)
      }
    }
    let before = state.withLock { state in
      defer { state.heart = heart }
      return state.heart
    }
    before?.cancel()
  }

  private static func answers(
    _ socket: LiveSocket, within milliseconds: Int, _ pause: @escaping @Sendable (Int) async throws -> Void
  ) async -> Bool {
    let impatience = Task {
      do { try await pause(milliseconds) } catch { return }
      socket.close(1_000)
    }
    defer { impatience.cancel() }
    do throws(LiveSocket.Ending) {
      try await socket.ping()
      return true
    } catch {
      return false
    }
  }
}

extension ClientFault {
  /// The session has ended meanwhile.
  static let signedOut = Reply(
    status: 401, fields: [],
    body: Array(#"{"code":"unauthenticated","status":401,"title":"Sign in first."}"#.utf8)
  ).fault
}
