import ParleyWire
import Web

/// Writes the head of an answer: what the site said, and what belongs to the connection.
extension Exchange {
  /// RFC 9112 §6 and §9: how the end of the answer is known, and whether the connection goes on after it.
  func writeHead(_ response: Response, _ shard: Shard, now: Int64) -> [UInt8] {
    var output = shard.beginHead(
      response.status, response.fields, now: now, room: Self.defaultCapacity + (response.smallLength ?? 0))
    shard.application.commonFields.append(to: &output, unlessIn: response.fields)
    writeFraming(response, to: &output)
    id.endHead(&output)
    return output
  }

  private static let defaultCapacity = 320

  private func writeFraming(_ response: Response, to output: inout [UInt8]) {
    if !response.status.allowsBody {
      // RFC 9112 §6.1, RFC 9110 §8.6: neither field; with 304 the length would be that of what is not sent.
    } else if let length = response.length {
      declaredLength = length
      output.append("Content-Length: " as StaticString)
      output.append(decimal: length)
      output.append("\r\n" as StaticString)
    } else if head.version == .http11 {
      isChunked = true
      output.append("Transfer-Encoding: chunked\r\n" as StaticString)
    } else {
      keepsAlive = false
    }
    if !keepsAlive {
      if !response.fields.has("connection") { output.append("Connection: close\r\n" as StaticString) }
    } else if head.version == .http10 {
      output.append("Connection: keep-alive\r\n" as StaticString)
    }
  }
}

extension Shard {
  /// What every head starts with: status, date, and the fields that were set.
  func beginHead(_ status: Status, _ fields: Fields, now: Int64, room: Int = 0) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(room + fields.wireBytes.count)
    status.appendLine(to: &output)
    clock.appendDate(now, to: &output)
    output.append(contentsOf: fields.wireBytes)
    return output
  }
}

extension RequestID {
  /// The last field of every head, and its end.
  func endHead(_ output: inout [UInt8]) {
    output.append("X-Request-ID: " as StaticString)
    append(to: &output)
    output.append("\r\n\r\n" as StaticString)
  }
}

extension Response {
  /// The length of a body that is sent in one piece with its head.
  var smallLength: Int? {
    guard case .bytes(let bytes) = body, bytes.count <= Self.maxSmallBytes else { return nil }
    return bytes.count
  }

  private static let maxSmallBytes = 16_384
}
