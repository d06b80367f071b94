public import ParleyHTTPClient
public import ParleyKit
import ParleyNetworking
import ParleyWire

/// `Transport` over our own sockets, with one client's connections.
public struct NetworkTransport: Transport {
  private let client: HTTPClient

  /// Maximum length of an HTTP answer to a handshake; the rest is not read.
  private static let maxErrorBytes = 65_536

  /// A transport over sockets of the system.
  ///
  /// - Throws: `offline` if the system has no resources for sockets.
  public init(trust: Trust = .system, configuration: ClientConfiguration = ClientConfiguration()) throws(ClientFault) {
    do throws(SystemError) {
      client = try HTTPClient(trust: trust.forTLS, configuration: configuration)
    } catch {
      throw .offline("\(error)")
    }
  }

  /// Sends a request and returns the response.
  public func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    let (call, destination) = try Self.call(exchange)
    do throws(ClientError) {
      return Self.answer(try await client.send(call, to: destination))
    } catch {
      throw TransportFailure(error)
    }
  }

  /// Opens a WebSocket.
  public func connect(
    _ exchange: TransportRequest, subprotocols: [String]
  ) async throws(TransportFailure) -> LiveSocket {
    var (call, destination) = try Self.call(exchange)
    call.maxResponseBytes = Self.maxErrorBytes
    let refusal: (status: Int, fields: [TransportRequest.Field], body: [UInt8])
    do throws(ClientError) {
      switch try await client.open(call, to: destination, subprotocols: subprotocols) {
      case .socket(let socket): return Self.live(socket)
      case .refused(let answer): refusal = (answer.status.code, Self.fields(of: answer), try await answer.body())
      }
    } catch {
      throw TransportFailure(error)
    }
    throw .notUpgraded(status: refusal.status, fields: refusal.fields, body: refusal.body)
  }

  private static func call(_ exchange: TransportRequest) throws(TransportFailure) -> (ClientRequest, Destination) {
    guard let origin = WebAddress(origin: exchange.origin), let destination = Destination(origin) else {
      throw .unreachable("\(exchange.origin) is not a server address")
    }
    var fields = Fields()
    for field in exchange.fields { fields.add(field.name, field.value) }
    let body: ClientRequestBody =
      switch exchange.body {
      case .none: .none
      case .bytes(let bytes): .bytes(bytes)
      case .stream(let length, let next): .stream(length: length, next: next)
      }
    return (ClientRequest(ParleyWire.Method(exchange.method), exchange.target, fields, body: body), destination)
  }

  private static func answer(_ answer: ClientResponse) -> TransportResponse {
    TransportResponse(status: answer.status.code, fields: fields(of: answer)) {
      () async throws(TransportFailure) -> [UInt8]? in
      do throws(ClientError) { return try await answer.next() } catch { throw TransportFailure(error) }
    }
  }

  private static func fields(of answer: ClientResponse) -> [TransportRequest.Field] {
    (0..<answer.fields.count).map { index in
      TransportRequest.Field(answer.fields.name(at: index), answer.fields.value(at: index))
    }
  }

  private static func live(_ socket: ClientSocket) -> LiveSocket {
    LiveSocket(
      send: { (text: String) async throws(LiveSocket.Ending) in
        do throws(SocketEnding) { try await socket.send(text) } catch { throw LiveSocket.Ending(error) }
      },
      next: { () async throws(LiveSocket.Ending) -> String in
        do throws(SocketEnding) {
          while true {
            // The contract has no binary messages.
            if case .text(let text) = try await socket.next() { return text }
          }
        } catch { throw LiveSocket.Ending(error) }
      },
      ping: { () async throws(LiveSocket.Ending) in
        do throws(SocketEnding) { try await socket.ping() } catch { throw LiveSocket.Ending(error) }
      },
      close: { code, reason in
        socket.close(UInt16(exactly: code).flatMap { CloseCode($0) } ?? .normal, reason: reason)
      })
  }
}

extension LiveSocket.Ending {
  fileprivate init(_ ending: SocketEnding) { self.init(code: ending.code, reason: ending.reason) }
}

extension TransportFailure {
  fileprivate init(_ failure: ClientError) {
    switch failure {
    case .unknownHost, .unreachable: self = .unreachable(failure.description)
    case .untrusted(let reason): self = .untrusted(reason)
    case .timedOut: self = .timedOut
    case .interrupted(let reason): self = .interrupted(reason)
    case .malformed(let reason): self = .malformed(reason)
    case .tooLarge: self = .tooLarge
    case .invalidRequest(let reason): self = .sourceFailed(reason)
    case .cancelled: self = .cancelled
    }
  }
}

extension Trust {
  /// The same trust for the sockets of `ParleyNetworking`.
  var forTLS: TLSConfiguration.Trust {
    switch self {
    case .system: .system
    case .fingerprint(let digest): .fingerprint(digest)
    }
  }
}
