import ParleyWire
import Web

/// Writes response heads: the handler's fields and those of the connection.
extension Exchange {
  /// The head with the framing (RFC 9112 §6) and the persistence of the connection (RFC 9112 §9).
  func writeHead(_ response: Response, _ shard: Shard, now: Int64) -> [UInt8] {
    var output = shard.beginHead(
      response.status, response.fields, now: now, room: Self.defaultCapacity + (response.smallLength ?? 0))
    shard.application.commonFields.append(to: &output, unlessIn: response.fields)
    writeFraming(response, to: &output)
    id.endHead(&output)
    return output
  }

  private static let defaultCapacity = 320

  /// The head of the response to an upgrade.
  func writeUpgradeHead(_ handshake: Fields, _ response: Response, _ shard: Shard, now: Int64) -> [UInt8] {
    status = .switchingProtocols
    var output = shard.beginHead(status, handshake, now: now)
    output.append(contentsOf: response.fields.wireBytes)
    id.endHead(&output)
    return output
  }

  private func writeFraming(_ response: Response, to output: inout [UInt8]) {
    if !response.status.allowsBody {
      // RFC 9112 §6.1, RFC 9110 §8.6: neither field; with 304 the length would be that of the unsent content.
    } else if let length = response.length {
      declaredLength = length
      output.append("Content-Length: " as StaticString)
      output.append(decimal: length)
      output.append("\r\n" as StaticString)
    } else if request.head.version == .http11 {
      isChunked = true
      output.append("Transfer-Encoding: chunked\r\n" as StaticString)
    } else {
      keepsAlive = false
    }
    if !keepsAlive {
      if !response.fields.has("connection") { output.append("Connection: close\r\n" as StaticString) }
    } else if request.head.version == .http10 {
      output.append("Connection: keep-alive\r\n" as StaticString)
    }
  }
}

extension Shard {
  /// The start of every head: status, date and the handler's fields.
  func beginHead(_ status: Status, _ fields: Fields, now: Int64, room: Int = 0) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(room + fields.wireBytes.count)
    status.appendLine(to: &output)
    clock.appendDate(now, to: &output)
    output.append(contentsOf: fields.wireBytes)
    return output
  }
}

extension Shard {
  /// The complete response to a request without a valid head.
  func rejection(_ problem: Problem, _ id: RequestID, isEncrypted: Bool, now: Int64) -> [UInt8] {
    let origin = application.addresses.origin(peer: nil, isEncrypted: isEncrypted, nil)
    let response = problem.response(id: id, origin: origin)
    var output = beginHead(response.status, response.fields, now: now)
    application.commonFields.append(to: &output, unlessIn: response.fields)
    output.append("Content-Length: \(response.length ?? 0)\r\n")
    id.endHead(&output)
    if case .bytes(let bytes) = response.body { output.append(contentsOf: bytes) }
    return output
  }
}

extension Problem {
  /// The problem of a request with invalid framing, after which the connection closes.
  init(refused status: Status, _ explanation: String, fields: Fields = Fields()) {
    self.init(status, code: Self.code(status), title: explanation, fields: fields)
    closesConnection = true
  }

  private static func code(_ status: Status) -> String {
    switch status {
    case .requestTimeout: "timeout"
    case .contentTooLarge, .uriTooLong, .headerFieldsTooLarge: "too_large"
    case .notImplemented: "not_implemented"
    case .versionNotSupported: "version_not_supported"
    default: "invalid"
    }
  }
}

extension RequestID {
  /// The end of every head, with the `X-Request-ID` field.
  func endHead(_ output: inout [UInt8]) {
    output.append("X-Request-ID: " as StaticString)
    append(to: &output)
    output.append("\r\n\r\n" as StaticString)
  }
}

extension Response {
  /// The length of a body that is sent in one write with its head.
  var smallLength: Int? {
    guard case .bytes(let bytes) = body, bytes.count <= Self.maxSmallBytes else { return nil }
    return bytes.count
  }

  private static let maxSmallBytes = 16_384
}
