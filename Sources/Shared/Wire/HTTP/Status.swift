/// A status code (RFC 9110 §15).
public struct Status: Sendable, Hashable, ExpressibleByIntegerLiteral {
  public let code: Int

  @inlinable public init(_ code: Int) { self.code = code }
  @inlinable public init(integerLiteral code: Int) { self.code = code }

  public static let switchingProtocols: Status = 101
  public static let ok: Status = 200
  public static let created: Status = 201
  public static let accepted: Status = 202
  public static let noContent: Status = 204
  public static let partialContent: Status = 206
  public static let movedPermanently: Status = 301
  public static let found: Status = 302
  public static let seeOther: Status = 303
  public static let notModified: Status = 304
  public static let permanentRedirect: Status = 308
  public static let badRequest: Status = 400
  public static let unauthorized: Status = 401
  public static let forbidden: Status = 403
  public static let notFound: Status = 404
  public static let methodNotAllowed: Status = 405
  public static let requestTimeout: Status = 408
  public static let conflict: Status = 409
  public static let gone: Status = 410
  public static let preconditionFailed: Status = 412
  public static let contentTooLarge: Status = 413
  public static let uriTooLong: Status = 414
  public static let unsupportedMediaType: Status = 415
  public static let rangeNotSatisfiable: Status = 416
  public static let expectationFailed: Status = 417
  public static let unprocessableContent: Status = 422
  public static let failedDependency: Status = 424
  public static let upgradeRequired: Status = 426
  public static let tooManyRequests: Status = 429
  public static let headerFieldsTooLarge: Status = 431
  public static let internalServerError: Status = 500
  public static let notImplemented: Status = 501
  public static let serviceUnavailable: Status = 503
  public static let versionNotSupported: Status = 505

  public var reason: String {
    switch code {
    case 100: "Continue"
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 422: "Unprocessable Content"
    case 424: "Failed Dependency"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }

  /// RFC 9110 §6.4.1: 1xx, 204 and 304 have no body.
  public var allowsBody: Bool { code >= 200 && code != 204 && code != 304 }
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
