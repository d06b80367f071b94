/// The fields for message framing and connection, parsed in one pass, for requests and responses.
struct FramingFields {
  let version: Version
  private(set) var hosts = 0
  private(set) var hasBadHost = false
  private(set) var contentLength: Int?
  private(set) var transferEncodings = 0
  private(set) var expectations = 0
  private var isClosed = false
  private var isKeepAlive = false
  private var hasUpgrade = false
  private var connectionUpgrades = false

  /// The length rules out most names.
  init(_ fields: Fields, version: Version) throws(FramingError) {
    self.version = version
    let bytes = fields.bytes.span
    for entry in fields.entries {
      let name = entry.name
      switch name.count {
      case 4 where bytes.matches("host", in: name):
        hosts += 1
        if !Authority.isValid(bytes, in: entry.value) { hasBadHost = true }
      case 6 where bytes.matches("expect", in: name): expectations += 1
      case 7 where bytes.matches("upgrade", in: name): hasUpgrade = true
      case 10 where bytes.matches("connection", in: name): readConnection(bytes, in: entry.value)
      case 14 where bytes.matches("content-length", in: name):
        guard contentLength == nil else { throw .repeatedContentLength }
        guard let length = FramingFields.length(bytes, in: entry.value) else { throw .badContentLength }
        contentLength = length
      case 17 where bytes.matches("transfer-encoding", in: name): transferEncodings += 1
      default: break
      }
    }
  }

  /// RFC 9112 §9.3.
  var keepsAlive: Bool { !isClosed && (version == .http11 || isKeepAlive) }

  /// RFC 9110 §7.8: Upgrade in an HTTP/1.0 request is ignored.
  var asksForUpgrade: Bool { connectionUpgrades && hasUpgrade && version == .http11 }

  /// Leading zeros are rejected: some software parses `010` as octal eight.
  private static func length(_ bytes: Span<UInt8>, in value: Range<Int>) -> Int? {
    guard let length = bytes.decimal(in: value), value.count == 1 || bytes[value.lowerBound] != 0x30 else { return nil }
    return length
  }

  private mutating func readConnection(_ bytes: Span<UInt8>, in value: Range<Int>) {
    bytes.forEachMember(in: value) { member in
      switch member.count {
      case 5 where bytes.matches("close", in: member): isClosed = true
      case 7 where bytes.matches("upgrade", in: member): connectionUpgrades = true
      case 10 where bytes.matches("keep-alive", in: member): isKeepAlive = true
      default: break
      }
    }
  }

  /// The body framing by the fields (RFC 9112 §6.3); nil without framing fields.
  func framing(_ fields: Fields) throws(FramingError) -> Framing? {
    guard transferEncodings > 0 else { return contentLength.map { .length($0) } }
    guard version == .http11 else { throw .transferEncodingInHTTP10 }
    guard contentLength == nil else { throw .contentLengthBesideTransferEncoding }
    try requireOnlyChunked(fields)
    return .chunked
  }

  private func requireOnlyChunked(_ fields: Fields) throws(FramingError) {
    let bytes = fields.bytes.span
    var members = 0
    var chunked = 0
    var endsInChunked = false
    var hasEmpty = false
    for entry in fields.entries where bytes.matches("transfer-encoding", in: entry.name) {
      bytes.forEachMember(in: entry.value) { member in
        members += 1
        endsInChunked = bytes.matches("chunked", in: member)
        if endsInChunked { chunked += 1 }
        if member.isEmpty { hasEmpty = true }
      }
    }
    guard endsInChunked, chunked == 1, !hasEmpty else { throw .badTransferEncoding }
    guard members == 1 else { throw .unknownTransferCoding }
  }
}

/// The error of ambiguous or invalid message framing.
public enum FramingError: Error, Sendable, Hashable {
  case repeatedContentLength, badContentLength, contentLengthBesideTransferEncoding
  case transferEncodingInHTTP10, badTransferEncoding, unknownTransferCoding

  public var explanation: String {
    switch self {
    case .repeatedContentLength: "There is more than one Content-Length."
    case .badContentLength: "Content-Length is not a number."
    case .contentLengthBesideTransferEncoding: "Content-Length and Transfer-Encoding are mutually exclusive."
    case .transferEncodingInHTTP10: "HTTP/1.0 has no Transfer-Encoding."
    case .badTransferEncoding: "Transfer-Encoding does not end in one \"chunked\"."
    case .unknownTransferCoding: "Only the transfer coding \"chunked\" is supported."
    }
  }
}
