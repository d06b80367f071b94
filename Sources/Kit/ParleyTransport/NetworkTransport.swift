public import ParleyHTTPClient
public import ParleyKit
public import ParleyNetworking
import ParleyWire

/// `Transport` over our own sockets, with one client's connections.
public struct NetworkTransport: Transport {
  private let client: HTTPClient

  /// How much of an ordinary answer to a handshake is read.
  private static let longestRefusal = 65_536

  public init(trust: Trust = .system, patience: Patience = Patience()) throws(SystemError) {
    client = try HTTPClient(trust: trust.forTLS, patience: patience)
  }

  public func send(_ exchange: Exchange) async throws(TransportFailure) -> ExchangeAnswer {
    let (call, destination) = try Self.call(exchange)
    do throws(CallFailure) {
      return Self.answer(try await client.send(call, to: destination))
    } catch {
      throw TransportFailure(error)
    }
  }

  public func connect(
    _ exchange: Exchange, subprotocols: [String]
  ) async throws(TransportFailure) -> LiveSocket {
    var (call, destination) = try Self.call(exchange)
    call.answerLimit = Self.longestRefusal
    let refusal: (status: Int, body: [UInt8])
    do throws(CallFailure) {
      switch try await client.open(call, to: destination, subprotocols: subprotocols) {
      case .socket(let socket): return Self.live(socket)
      case .refused(let answer): refusal = (answer.status.code, try await answer.body())
      }
    } catch {
      throw TransportFailure(error)
    }
    throw .notUpgraded(status: refusal.status, body: refusal.body)
  }

  private static func call(_ exchange: Exchange) throws(TransportFailure) -> (Call, Destination) {
    guard let origin = WebAddress(origin: exchange.origin), let destination = Destination(origin) else {
      throw .unreachable("\(exchange.origin) is no server’s address")
    }
    var fields = Fields()
    for field in exchange.fields { fields.add(field.name, field.value) }
    let body: CallBody =
      switch exchange.body {
      case .none: .none
      case .bytes(let bytes): .bytes(bytes)
      case .pieces(let length, let next): .pieces(length: length, next: next)
      }
    return (Call(ParleyWire.Method(exchange.method), exchange.target, fields, body: body), destination)
  }

  private static func answer(_ answer: CallAnswer) -> ExchangeAnswer {
    let fields = (0..<answer.fields.count).map { index in
      Exchange.Field(answer.fields.name(at: index), answer.fields.value(at: index))
    }
    return ExchangeAnswer(status: answer.status.code, fields: fields) { () async throws(TransportFailure) -> [UInt8]? in
      do throws(CallFailure) { return try await answer.next() } catch { throw TransportFailure(error) }
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
  fileprivate init(_ failure: CallFailure) {
    switch failure {
    case .unknownHost, .unreachable: self = .unreachable(failure.description)
    case .untrusted(let reason): self = .untrusted(reason)
    case .timedOut: self = .timedOut
    case .interrupted(let reason): self = .interrupted(reason)
    case .malformed(let reason): self = .malformed(reason)
    case .tooLarge: self = .tooLarge
    case .unsendable(let reason): self = .sourceFailed(reason)
    case .cancelled: self = .cancelled
    }
  }
}
