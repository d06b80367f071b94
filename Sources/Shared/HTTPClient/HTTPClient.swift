// Requests to servers: connections of our own, kept while they are of use, on a loop that belongs to the client. It follows
// no redirects, keeps no cookies and tries nothing twice, but for a request over a kept connection that the server had
// closed meanwhile, where asking again does no harm.

public import ParleyNetworking
public import ParleyWire
import Synchronization

public final class HTTPClient: Sendable {
  private let loop: EventLoop
  private let numbers = Atomic<Int>(0)

  /// - Parameter trust: whom to believe under TLS.
  public init(trust: TLSConfiguration.Trust = .system, patience: Patience = Patience()) throws(SystemError) {
    loop = try EventLoop(label: "parley.client")
    loop.run { loop in
      loop.start()
      _ = loop.resident(Lines.self) { Lines(trust, patience) }
    }
  }

  deinit { Self.end(loop) }

  /// Ends all that is under way, with `cancelled`.
  public func close() {
    loop.run { $0.resident(Lines.self)?.close() }
  }

  private static func end(_ loop: EventLoop) {
    loop.run { $0.resident(Lines.self)?.close() }
    Task { await loop.stop() }
  }

  /// Sends a request; the head of its answer, as soon as it is there.
  public func send(_ call: Call, to destination: Destination) async throws(CallFailure) -> CallAnswer {
    let number = numbers.add(1, ordering: .relaxed).newValue
    switch await perform(call, to: destination, nil, number) {
    case .success(.answer(let head)): return CallAnswer(head, CallReader(self, loop, number))
    case .success(.socket): throw .malformed("it changes to a protocol that nobody asked for")
    case .failure(let failure): throw failure
    }
  }

  /// What a server says to a handshake.
  public enum Opening: Sendable {
    /// The subprotocol that it chose, if any, is among those asked for.
    case socket(ClientSocket)
    /// It is an ordinary answer.
    case refused(CallAnswer)
  }

  /// Opens a WebSocket.
  public func open(
    _ call: Call, to destination: Destination, subprotocols: [String] = []
  ) async throws(CallFailure) -> Opening {
    let number = numbers.add(1, ordering: .relaxed).newValue
    let handshake = WebSocketClientHandshake(
      nonce: (0..<16).map { _ in UInt8.random(in: .min ... .max) }, subprotocols: subprotocols,
      deflate: PerMessageDeflate.Policy())
    switch await perform(call, to: destination, handshake, number) {
    case .success(.answer(let head)): return .refused(CallAnswer(head, CallReader(self, loop, number)))
    case .success(.socket(let number)): return .socket(ClientSocket(self, loop, number))
    case .failure(let failure): throw failure
    }
  }

  private func perform(
    _ call: Call, to destination: Destination, _ handshake: WebSocketClientHandshake?, _ number: Int
  ) async -> Result<ExchangeInProgress.Head, CallFailure> {
    let loop = self.loop
    return await withTaskCancellationHandler {
      await Self.perform(call, to: destination, handshake, number, on: loop)
    } onCancel: {
      loop.run { $0.resident(Lines.self)?.abandon(number) }
    }
  }

  private static func perform(
    _ call: Call, to destination: Destination, _ handshake: WebSocketClientHandshake?, _ number: Int,
    on loop: isolated EventLoop
  ) async -> Result<ExchangeInProgress.Head, CallFailure> {
    guard let lines = loop.resident(Lines.self) else { return .failure(.cancelled) }
    return await lines.perform(call, to: destination, handshake: handshake, number: number, on: loop)
  }
}

/// An answer: its head, and its body as it comes.
public struct CallAnswer: Sendable {
  public let status: Status
  public let fields: Fields
  private let reader: CallReader

  init(_ head: ReceivedResponse, _ reader: CallReader) {
    status = head.status
    fields = head.fields
    self.reader = reader
  }

  /// The next piece of the body; nil when it has ended whole. Whoever lets go of an answer before that ends it.
  public func next() async throws(CallFailure) -> [UInt8]? { try await reader.next() }

  /// All of it.
  public func body() async throws(CallFailure) -> [UInt8] {
    var body: [UInt8] = []
    while let piece = try await next() {
      if body.isEmpty { body = piece } else { body += piece }
    }
    return body
  }
}

/// Reads the body of one answer.
final class CallReader: Sendable {
  private let loop: EventLoop
  private let number: Int
  /// Keeps the loop at work.
  private let client: HTTPClient

  init(_ client: HTTPClient, _ loop: EventLoop, _ number: Int) {
    self.client = client
    self.loop = loop
    self.number = number
  }

  deinit {
    let number = self.number
    loop.run { $0.resident(Lines.self)?.abandon(number) }
  }

  func next() async throws(CallFailure) -> [UInt8]? {
    let (loop, number) = (self.loop, self.number)
    let result = await withTaskCancellationHandler {
      await Self.next(number, on: loop)
    } onCancel: {
      loop.run { $0.resident(Lines.self)?.abandon(number) }
    }
    return try result.get()
  }

  private static func next(_ number: Int, on loop: isolated EventLoop) async -> Result<[UInt8]?, CallFailure> {
    guard !Task.isCancelled, let exchange = loop.resident(Lines.self)?.exchanges[number] else {
      return .failure(.cancelled)
    }
    return await exchange.next(isolation: loop)
  }
}
