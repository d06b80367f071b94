// A request and its response while they are in progress: the body as it arrives, the handler's task, and the framing of
// the response. The connection does the reading, the deadlines and the closing.

import ParleyNetworking
import ParleyWire
import Web

final class Exchange {
  let request: Request
  let id: RequestID
  let began: Int64
  let plan: Application.Plan
  let body: RequestBody
  /// Decodes the framing of the body; nil without a body.
  private var decoder: BodyDecoder?
  /// Whether the connection is kept alive after this request.
  var keepsAlive: Bool
  private(set) var isStarted = false
  private(set) var isAnswered = false
  private var task: Task<Void, Never>?
  private var writer: BodyWriter?
  /// The client waits for 100 (Continue), and no bytes of the body have arrived.
  private(set) var awaitsContinue: Bool
  /// The start of the body's transfer. Shifted by the time during which reading was paused.
  var bodyStartedAt: Int64
  /// The memory that the handler has reserved, in bytes.
  var reserved = 0
  /// The number of body bytes dropped after the response.
  private var discarded = 0

  // The framing and the progress of the response.
  var status: Status = 0
  var isChunked = false
  /// The `Content-Length` of the response.
  var declaredLength: Int?
  private(set) var sent = 0

  /// The maximum number of unread body bytes that are discarded to keep the connection alive.
  private static let maxDiscarded = 262_144

  private init(
    _ request: Request, id: RequestID, began: Int64, plan: Application.Plan, decoder: BodyDecoder?, keepsAlive: Bool
  ) {
    self.request = request
    self.id = id
    self.began = began
    bodyStartedAt = began
    self.plan = plan
    body = request.body
    self.decoder = decoder
    self.keepsAlive = keepsAlive
    awaitsContinue = request.head.expectsContinue
  }

  convenience init(_ head: RequestHead, on connection: HTTPConnection, now: Int64) {
    let shard = connection.shard
    let plan = shard.application.plan(head, bodyLimit: shard.limits.body)
    let keepsAlive = head.keepsAlive && !shard.isDraining
    guard head.framing != .none, head.framing != .length(0) else {
      self.init(
        Request(head: head, body: shard.emptyBody), id: shard.nextID(), began: now, plan: plan, decoder: nil,
        keepsAlive: keepsAlive)
      return
    }
    var contentLength: Int?
    if case .length(let length) = head.framing { contentLength = length }
    let onFirstRead: (() -> Void)? = head.expectsContinue ? { [weak connection] in connection?.sendContinue() } : nil
    let body = RequestBody(contentLength: contentLength, limit: plan.bodyLimit, onFirstRead: onFirstRead) {
      [weak connection] in
      connection?.bodyConsumed()
    }
    self.init(
      Request(head: head, body: body), id: shard.nextID(), began: now, plan: plan,
      decoder: BodyDecoder(head.framing, limit: plan.bodyLimit), keepsAlive: keepsAlive)
  }

  // MARK: Request body

  /// Whether the whole body has arrived.
  var isBodyComplete: Bool { decoder?.isDone != false }

  /// Decodes bytes of the body, and drops them after the response. Returns the number of consumed bytes.
  func readBody(_ input: Span<UInt8>, isDiscarded: Bool) throws(BodyError) -> Int {
    awaitsContinue = false
    // Joins the chunks of one read: queued chunks of one byte would cost fifty times their size.
    var payload: [UInt8] = []
    var offset = 0
    while offset < input.count, decoder?.isDone == false {
      let rest = input.extracting(offset...)
      switch try decoder?.next(rest) {
      case .payload(let range):
        offset += range.upperBound
        if isDiscarded { discarded += range.count } else { payload.append(copying: rest.extracting(range)) }
      case .more, nil: offset = input.count
      case .end(let length): offset += length
      }
    }
    body.push(payload)
    return offset
  }

  /// The deadline of the next bytes of the body, at the minimum average rate `bodyRate` after `byteTime`.
  func bodyDeadline(_ limits: Limits) -> Int64 {
    bodyStartedAt + Int64(limits.byteTime) * 1_000_000_000 + Int64(body.received) * 1_000_000_000
      / Int64(limits.bodyRate)
  }

  /// Drops the rest of the body: the response is complete.
  func discardBody() {
    discarded = body.buffered
    body.fail(.disconnected)
  }

  var hasDiscardedTooMuch: Bool { discarded > Self.maxDiscarded }

  private var canDiscardBody: Bool {
    if request.head.expectsContinue { return false }
    if let contentLength = body.contentLength { return contentLength <= Self.maxDiscarded }
    return true
  }

  /// Called at the handler's first read. Returns whether 100 (Continue) must be sent.
  func continueBody(at now: Int64) -> Bool {
    guard !isAnswered, awaitsContinue else { return false }
    awaitsContinue = false
    bodyStartedAt = now
    return true
  }

  // MARK: Handler

  /// Starts the handler in a task on the loop.
  func start(on connection: HTTPConnection, _ loop: isolated EventLoop) {
    guard !isStarted else { return }
    isStarted = true
    let shard = connection.shard
    let application = shard.application
    let context = Context(
      id: id, now: shard.clock.milliseconds(loop.now), uptime: loop.now / 1_000_000, loop: loop, peer: connection.peer,
      isEncrypted: connection.isEncrypted, request: request, addresses: application.addresses, locals: shard.locals,
      memory: connection)
    let task = Task.immediate {
      _ = loop
      let response = await application.respond(self.request, context, self.plan)
      self.answer(response, on: connection, loop)
    }
    // A handler that did not suspend has ended by now.
    if !isAnswered { self.task = task }
  }

  /// Cancels the handler and fails its reads and writes: the client has disconnected.
  func cancel() {
    body.fail(.disconnected)
    task?.cancel()
    task = nil
    writer?.wake()
    writer = nil
  }

  // MARK: Response

  func answer(_ response: Response, on connection: HTTPConnection, _ loop: isolated EventLoop) {
    guard let stream = connection.stream(of: self) else { return }
    isAnswered = true
    task = nil
    status = response.status
    if reserved > 0 {
      reserved = 0
      connection.endReservation()
    }
    if case .webSocket(let upgrade) = response.body {
      return connection.upgrade(upgrade, response, self, stream, loop)
    }
    if response.fields.hasToken("connection", "close") || !isBodyComplete && !canDiscardBody { keepsAlive = false }
    var output = writeHead(response, connection.shard, now: loop.now)
    guard response.status.allowsBody, request.head.method != .head else {
      stream.write(output)
      return connection.completed(self)
    }
    switch response.body {
    case .none, .webSocket:
      stream.write(output)
    case .bytes(let bytes):
      sent = bytes.count
      if response.smallLength != nil {
        output.append(contentsOf: bytes)
        stream.write(output)
      } else {
        stream.write(output)
        if response.isRetained { stream.write(retained: bytes) } else { stream.write(bytes) }
      }
    case .segments(let segments):
      stream.write(output)
      for segment in segments {
        sent += segment.count
        switch segment {
        case .bytes(let bytes): stream.write(bytes)
        case .file(let file, let range):
          stream.write(
            FileSlice(descriptor: file.descriptor, owner: file, offset: range.lowerBound, count: range.count))
        }
      }
    case .stream(_, let write):
      stream.write(output)
      return startWriting(write, on: connection, loop)
    }
    connection.completed(self)
  }

  private func startWriting(
    _ write: @escaping (BodyWriter) async throws -> Void, on connection: HTTPConnection, _ loop: isolated EventLoop
  ) {
    let writer = BodyWriter { [weak self, weak connection] bytes throws(BodyWriter.Disconnected) in
      guard let self, let connection else { throw BodyWriter.Disconnected() }
      return try self.send(bytes, on: connection)
    }
    self.writer = writer
    let task = Task.immediate {
      _ = loop
      do {
        try await write(writer)
        self.finishWriting(on: connection, nil)
      } catch {
        self.finishWriting(on: connection, error)
      }
    }
    if self.writer != nil { self.task = task }
  }

  private func send(_ bytes: [UInt8], on connection: HTTPConnection) throws(BodyWriter.Disconnected) -> Bool {
    guard let stream = connection.stream(of: self) else { throw BodyWriter.Disconnected() }
    sent += bytes.count
    if isChunked {
      var chunk: [UInt8] = []
      chunk.reserveCapacity(bytes.count + 20)
      Chunk.appendPrefix(bytes.count, to: &chunk)
      chunk.append(contentsOf: bytes)
      chunk.append(contentsOf: Chunk.suffix)
      stream.write(chunk)
    } else {
      if let declaredLength, sent > declaredLength {
        connection.shard.log("\(id) wrote more bytes than its Content-Length")
        stream.abort()
        throw BodyWriter.Disconnected()
      }
      stream.write(bytes)
    }
    connection.startOutputDeadline(stream)
    return !stream.isFull
  }

  private func finishWriting(on connection: HTTPConnection, _ error: (any Error)?) {
    writer = nil
    task = nil
    guard let stream = connection.stream(of: self) else { return }
    if let error, !(error is BodyWriter.Disconnected) { connection.shard.log("\(id) \(error)") }
    // An incomplete body must not look complete.
    let isShort = declaredLength.map { $0 != sent } ?? false
    guard error == nil, !isShort else { return stream.abort() }
    if isChunked { stream.write(Chunk.last) }
    connection.completed(self)
  }

  /// Resumes the writer: the send queue has room.
  func resumeWriting() { writer?.wake() }

  // MARK: Counts and access log

  func log(on connection: HTTPConnection, isAborted: Bool = false) {
    let shard = connection.shard
    let now = ParleyNetworking.Clock.monotonic()
    shard.counts.add(status: status.code, nanoseconds: now - began, isAborted: isAborted)
    shard.accessLog?.logRequest(
      request.head, status: status, sent: sent, id: id,
      client: shard.application.addresses.client(peer: connection.peer, request.fields),
      at: shard.clock.milliseconds(now), nanoseconds: now - began, isAborted: isAborted)
  }
}
