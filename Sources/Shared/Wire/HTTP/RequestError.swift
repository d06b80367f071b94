/// The error of a request head. The connection is closed after the response, because the start of the next request is
/// unknown.
public enum RequestError: Error, Sendable, Hashable {
  case badLine, lineTooLong, bareLineFeed, bareCarriageReturn
  case methodNotImplemented
  case badTarget
  case badVersion, versionNotSupported
  case field(FieldError)
  case missingHost, repeatedHost, badHost
  case framing(FramingError)
  case unknownExpectation

  public var status: Status {
    switch self {
    case .lineTooLong: .uriTooLong
    case .methodNotImplemented, .framing(.unknownTransferCoding): .notImplemented
    case .versionNotSupported: .versionNotSupported
    case .unknownExpectation: .expectationFailed
    case .field(let error): error.isOverLimit ? .headerFieldsTooLarge : .badRequest
    case .badLine, .bareLineFeed, .bareCarriageReturn, .badTarget, .badVersion, .missingHost, .repeatedHost, .badHost,
      .framing:
      .badRequest
    }
  }

  public var explanation: String {
    switch self {
    case .badLine: "The request line is not \"method target version\"."
    case .lineTooLong: "The request line is too long."
    case .bareLineFeed: "A line ends in LF without CR."
    case .bareCarriageReturn: "A CR is not followed by LF."
    case .methodNotImplemented: "The method is not supported."
    case .badTarget: "The request target is not valid."
    case .badVersion: "The HTTP version is not valid."
    case .versionNotSupported: "Only HTTP/1.1 and HTTP/1.0 are supported."
    case .field(let error): error.explanation
    case .missingHost: "The Host field is missing."
    case .repeatedHost: "There is more than one Host field."
    case .badHost: "The Host field is not valid."
    case .framing(let error): error.explanation
    case .unknownExpectation: "Only the expectation \"100-continue\" is known here."
    }
  }
}
