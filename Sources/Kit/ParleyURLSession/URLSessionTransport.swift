public import ParleyKit

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// `Transport` over Foundation's networking. It verifies certificates as the system does.
public final class URLSessionTransport: Transport {
  private let session: URLSession
  private let tasks = SessionTasks()

  /// The longest message of a WebSocket.
  static let maxMessageBytes = 4 << 20

  /// - Parameter configuration: timeouts and the use of cellular networks; caches, cookies and stored passwords are disabled.
  public init(_ configuration: URLSessionConfiguration = .ephemeral) {
    // A copy: the caller may use its object for other sessions.
    let own = (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
    own.urlCache = nil
    own.httpCookieStorage = nil
    own.httpShouldSetCookies = false
    own.urlCredentialStorage = nil
    own.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: own, delegate: tasks, delegateQueue: nil)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Sends a request and returns the response.
  public func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    var request = try Self.request(exchange)
    let task: URLSessionDataTask
    let file: TemporaryFile?
    switch exchange.body {
    case .none: (task, file) = (session.dataTask(with: request), nil)
    case .bytes(let bytes):
      request.httpBody = Data(bytes)
      (task, file) = (session.dataTask(with: request), nil)
    case .stream(let length, let next):
      // A stream pair for the body exists on Apple platforms only.
      let source = try await TemporaryFile(length, next)
      (task, file) = (session.uploadTask(with: request, fromFile: source.url), source)
    }
    let response = TaskResponse(task, body: file, tasks)
    let (status, fields) = try await response.head()
    return TransportResponse(status: status, fields: fields) { () async throws(TransportFailure) in
      try await response.next()
    }
  }

  /// Opens a WebSocket.
  public func connect(
    _ exchange: TransportRequest, subprotocols: [String]
  ) async throws(TransportFailure) -> LiveSocket {
    var request = try Self.request(exchange)
    if let url = request.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) {
      parts.scheme = parts.scheme == "http" ? "ws" : "wss"
      request.url = parts.url
    }
    if !subprotocols.isEmpty {
      request.setValue(subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
    }
    let task = session.webSocketTask(with: request)
    task.maximumMessageSize = Self.maxMessageBytes
    let pings = SocketPings()
    tasks.add(pings, for: task)
    try await SocketOpening(task, tasks).wait()
    return Self.live(task, pings)
  }

  private static func live(_ task: URLSessionWebSocketTask, _ pings: SocketPings) -> LiveSocket {
    let ending = { @Sendable in
      let reason = task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? ""
      return LiveSocket.Ending(code: task.closeCode == .invalid ? 1006 : task.closeCode.rawValue, reason: reason)
    }
    return LiveSocket(
      send: { text async throws(LiveSocket.Ending) in
        do { try await task.send(.string(text)) } catch { throw ending() }
      },
      next: { () async throws(LiveSocket.Ending) in
        // The contract has no binary messages.
        while true {
          do { if case .string(let text) = try await task.receive() { return text } } catch { throw ending() }
        }
      },
      ping: { () async throws(LiveSocket.Ending) in
        guard await pings.send(on: task) else { throw ending() }
      },
      close: { code, reason in
        task.cancel(with: .init(rawValue: code) ?? .normalClosure, reason: Data(reason.utf8))
        pings.end()
      })
  }

  private static func request(_ exchange: TransportRequest) throws(TransportFailure) -> URLRequest {
    guard let url = URL(string: exchange.origin + exchange.target) else {
      throw .unreachable("\(exchange.origin) is not a server address")
    }
    var request = URLRequest(url: url)
    request.httpMethod = exchange.method
    for field in exchange.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }
}

extension TransportFailure {
  init(_ error: any Error) {
    if let failure = error as? TransportFailure {
      self = failure
      return
    }
    // On Linux some errors arrive as NSError.
    let error = error as NSError
    guard error.domain == NSURLErrorDomain else {
      self = .interrupted(error.localizedDescription)
      return
    }
    switch URLError.Code(rawValue: error.code) {
    case .cancelled: self = .cancelled
    case .timedOut: self = .timedOut
    case .badURL, .unsupportedURL, .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed:
      self = .unreachable(error.localizedDescription)
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      self = .untrusted(error.localizedDescription)
    default: self = .interrupted(error.localizedDescription)
    }
  }
}

extension HTTPURLResponse {
  var transportFields: [TransportRequest.Field] {
    allHeaderFields.map { TransportRequest.Field("\($0.key)", "\($0.value)") }
  }
}
