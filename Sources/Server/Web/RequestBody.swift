/// The body of a request, streamed. A handler reads it in chunks or collects it up to a limit. The server discards
/// chunks that no handler reads. It stops reading from the socket while chunks are buffered here, so an upload of any
/// size uses a bounded amount of memory.
public final class RequestBody {
  private var chunks: [[UInt8]] = []
  private var next = 0
  private var isComplete: Bool
  private var failure: Problem?
  private var waiter: CheckedContinuation<Void, Never>?
  /// Called after the buffered chunks were read: the server may read from the socket again.
  private var resume: (() -> Void)?
  /// Called at the first read of a handler. The server then sends `100 Continue` to a client that expects it.
  private var onFirstRead: (() -> Void)?

  /// Bytes not yet read by the handler.
  public private(set) var buffered = 0
  /// Bytes held by `collect`.
  private var collected = 0
  /// Bytes received from the client.
  public private(set) var received = 0
  /// The maximum size, set by the route.
  public let limit: Int
  /// The Content-Length of the request.
  public let contentLength: Int?

  /// An empty body.
  public init() {
    isComplete = true
    limit = 0
    contentLength = 0
  }

  public init(contentLength: Int?, limit: Int, onFirstRead: (() -> Void)?, resume: @escaping () -> Void) {
    isComplete = false
    self.contentLength = contentLength
    self.limit = limit
    self.onFirstRead = onFirstRead
    self.resume = resume
  }

  /// A complete body, for tests and in-memory requests.
  public convenience init(_ bytes: [UInt8]) {
    self.init(contentLength: bytes.count, limit: bytes.count, onFirstRead: nil, resume: {})
    push(bytes)
    finish()
  }

  // MARK: For the handler

  /// The next chunk; nil at the end.
  public func read() async throws(Problem) -> [UInt8]? {
    notifyFirstRead()
    while true {
      if next < chunks.count {
        let chunk = chunks[next]
        chunks[next] = []
        next += 1
        buffered -= chunk.count
        if next == chunks.count {
          chunks.removeAll(keepingCapacity: false)
          next = 0
          if !isComplete { resume?() }
        }
        return chunk
      }
      if let failure { throw failure }
      if isComplete { return nil }
      await withCheckedContinuation { waiter = $0 }
    }
  }

  /// The whole body, of at most `limit` bytes (and never more than the route's limit).
  public func collect(limit: Int = .max) async throws(Problem) -> [UInt8] {
    let limit = min(limit, self.limit)
    if let contentLength, contentLength > limit { throw .tooLarge(limit: limit) }
    var all: [UInt8] = []
    while let chunk = try await read() {
      guard all.count + chunk.count <= limit else { throw .tooLarge(limit: limit) }
      if all.isEmpty { all = chunk } else { all.append(contentsOf: chunk) }
      collected = all.count
    }
    return all
  }

  private func notifyFirstRead() {
    onFirstRead?()
    onFirstRead = nil
  }

  // MARK: For the server

  /// Bytes in memory.
  public var footprint: Int { buffered + collected }

  public func push(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, !isComplete else { return }
    chunks.append(bytes)
    buffered += bytes.count
    received += bytes.count
    wake()
  }

  public func finish() {
    isComplete = true
    release()
  }

  public func fail(_ problem: Problem) {
    guard !isComplete else { return }
    isComplete = true
    failure = problem
    release()
  }

  /// Fails, and drops the bytes that the handler has not read.
  public func refuse(_ problem: Problem) {
    guard !isComplete else { return }
    chunks = []
    next = 0
    buffered = 0
    collected = 0
    fail(problem)
  }

  /// Drops the server's closures, which retain the connection.
  private func release() {
    resume = nil
    onFirstRead = nil
    wake()
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}
