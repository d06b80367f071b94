import ParleyWire

/// What the host of an address means to whatever resolves it, however it is spelled.
enum HostMeaning: Sendable, Hashable {
  case address(IPAddress)
  /// A name to be looked up, in lower case, without the dot of the root.
  case name(String)

  /// Of an IPv6 literal in brackets, or of letters, digits and `-._~`, as `WebAddress` gives it. Nil where it can't be
  /// looked up, or where programs disagree about what it is.
  init?(_ host: String) {
    if host.hasPrefix("[") {
      guard let address = IPAddress(host) else { return nil }
      self = .address(address)
      return
    }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard let last = labels.last, name.utf8.count <= 253 else { return nil }
    // WHATWG URL §3.5: what ends in a number is an IPv4 address, or nothing. getaddrinfo thinks so too.
    if HostMeaning.isNumber(last) {
      guard let number = HostMeaning.ipv4(labels) else { return nil }
      self = .address(IPAddress(ipv4: number))
      return
    }
    guard labels.allSatisfy(HostMeaning.isLabel) else { return nil }
    self = .name(name)
  }

  /// RFC 1123 §2.1, and the `_` that some people's hosts have.
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

  /// One to four numbers, decimal, octal or hexadecimal, of which the last fills what is left: `127.1`, `0x7f000001`.
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
