/// The body of a request, as it comes in. A handler takes it piece by piece, or collects it under a limit; what nobody
/// takes is read and dropped. The server stops reading from the socket while pieces wait here, so that an upload
/// costs a bounded number of bytes however large it is.
public final class RequestBody {
  private var chunks: [[UInt8]] = []
  private var next = 0
  private var isComplete: Bool
  private var failure: Problem?
  private var waiter: CheckedContinuation<Void, Never>?
  /// Called when the waiting pieces were taken: the server may read on.
  private var resume: (() -> Void)?
  /// Called when a handler first asks for the body, so that a client that waits is told to go on.
  private var onFirstRead: (() -> Void)?

  /// Bytes that wait to be taken.
  public private(set) var buffered = 0
  /// Bytes that a handler is putting together.
  private var collected = 0
  /// Bytes that have come.
  public private(set) var received = 0
  /// The largest body that is let through, set by the route.
  public let limit: Int
  /// The length that the client announced.
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

  /// The whole body at once, for tests and for requests made in memory.
  public convenience init(_ bytes: [UInt8]) {
    self.init(contentLength: bytes.count, limit: bytes.count, onFirstRead: nil, resume: {})
    push(bytes)
    finish()
  }

  // MARK: For the handler

  /// The next piece; nil at the end.
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

  /// The server's functions hold the connection; a body that is over lets go of it.
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
