/// The head of a response.
public struct ResponseHead: Sendable {
  public var status: Status
  public var fields: Fields

  public init(_ status: Status, _ fields: Fields = Fields()) {
    self.status = status
    self.fields = fields
  }

  /// Appends the head to `output`: status line, fields, empty line.
  public func append(to output: inout [UInt8]) {
    output.reserveCapacity(output.count + fields.wireBytes.count + 48)
    status.appendLine(to: &output)
    output.append(contentsOf: fields.wireBytes)
    output.append(13)
    output.append(10)
  }
}

extension Status {
  /// RFC 9112 §4: the status line with its CRLF. Common ones are precomputed.
  public func appendLine(to output: inout [UInt8]) {
    switch code {
    case 200: output.append("HTTP/1.1 200 OK\r\n" as StaticString)
    case 201: output.append("HTTP/1.1 201 Created\r\n" as StaticString)
    case 204: output.append("HTTP/1.1 204 No Content\r\n" as StaticString)
    case 304: output.append("HTTP/1.1 304 Not Modified\r\n" as StaticString)
    case 404: output.append("HTTP/1.1 404 Not Found\r\n" as StaticString)
    default:
      output.append("HTTP/1.1 " as StaticString)
      // RFC 9110 §15: always three digits.
      output.append(decimal: min(max(code, 100), 999))
      output.append(32)
      output.append(reason)
      output.append(13)
      output.append(10)
    }
  }
}
