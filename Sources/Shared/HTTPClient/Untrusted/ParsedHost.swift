import ParleyWire

/// The host of a URL as resolvers read it, in every spelling: an IP address or a name.
enum ParsedHost: Sendable, Hashable {
  case address(IPAddress)
  /// A name to resolve, in lower case, without the root dot.
  case name(String)

  /// Parses the host of a `WebAddress`: an IPv6 literal in brackets, or letters, digits and `-._~`. Nil for a host that can't
  /// be resolved or that programs read differently.
  init?(_ host: String) {
    if host.hasPrefix("[") {
      guard let address = IPAddress(host) else { return nil }
      self = .address(address)
      return
    }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard let last = labels.last, name.utf8.count <= 253 else { return nil }
    // WHATWG URL §3.5: a host whose last label is a number is an IPv4 address or invalid. getaddrinfo agrees.
    if ParsedHost.isNumber(last) {
      guard let number = ParsedHost.ipv4(labels) else { return nil }
      self = .address(IPAddress(ipv4: number))
      return
    }
    guard labels.allSatisfy(ParsedHost.isLabel) else { return nil }
    self = .name(name)
  }

  /// RFC 1123 §2.1, and `_`, which some hosts use.
  private static func isLabel(_ label: Substring) -> Bool {
    let bytes = Array(label.utf8)
    guard 1...63 ~= bytes.count, bytes.first != UInt8(ascii: "-"), bytes.last != UInt8(ascii: "-") else { return false }
    return bytes.allSatisfy {
      ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
    }
  }

  private static func isNumber(_ label: Substring) -> Bool {
    !label.isEmpty && label.utf8.allSatisfy(ASCII.isDigit) || label.hasPrefix("0x") && number(label) != nil
  }

  /// One to four numbers, decimal, octal or hexadecimal. The last one fills the remaining bytes: `127.1`, `0x7f000001`.
  private static func ipv4(_ labels: [Substring]) -> UInt32? {
    guard 1...4 ~= labels.count else { return nil }
    let numbers = labels.compactMap(number)
    guard numbers.count == labels.count, let last = numbers.last else { return nil }
    var address: UInt64 = 0
    for number in numbers.dropLast() {
      guard number < 256 else { return nil }
      address = address << 8 | number
    }
    let left = UInt64(5 - numbers.count) * 8
    guard last >> left == 0 else { return nil }
    return UInt32(truncatingIfNeeded: address << left | last)
  }

  private static func number(_ label: Substring) -> UInt64? {
    if label.hasPrefix("0x") {
      let digits = label.dropFirst(2)
      guard digits.utf8.allSatisfy({ ASCII.hexValue($0) != nil }) else { return nil }
      return digits.isEmpty ? 0 : UInt64(digits, radix: 16)
    }
    guard label.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return label.count > 1 && label.hasPrefix("0") ? UInt64(label, radix: 8) : UInt64(label)
  }
}
