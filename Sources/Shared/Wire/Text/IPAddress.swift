/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address (`::ffff:1.2.3.4`, RFC 4291 §2.5.5.2) equals the IPv4 address,
/// so that it does not bypass a rule for it.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// The 128 bits; IPv4 in mapped form.
  public let high: UInt64
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  public init(ipv4: UInt32) {
    high = 0
    low = 0xffff_0000_0000 | UInt64(ipv4)
  }

  public var ipv4: UInt32? {
    high == 0 && low >> 32 == 0xffff ? UInt32(truncatingIfNeeded: low) : nil
  }

  /// The network of the address, by which guesses are counted and which the log shows: a /24 of IPv4, a /48 of IPv6, which
  /// is the part of one site (RFC 6177).
  public var network: IPAddress {
    if let ipv4 { IPAddress(ipv4: ipv4 & 0xffff_ff00) } else { IPAddress(high: high & ~0xffff, low: 0) }
  }

  /// An address of the machine itself.
  public var isLoopback: Bool {
    if let ipv4 { ipv4 >> 24 == 127 } else { high == 0 && low == 1 }
  }

  /// Parses the dotted form of IPv4 (four decimal numbers without leading zeros) or any form of RFC 4291 §2.2, with or
  /// without brackets. Zones are rejected.
  public init?(_ text: String) {
    var bytes = Array(text.utf8)[...]
    if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") { bytes = bytes.dropFirst().dropLast() }
    if let ipv4 = Self.readIPv4(bytes) {
      self.init(ipv4: ipv4)
    } else if let groups = Self.readIPv6(bytes) {
      self.init(
        high: groups[..<4].reduce(0) { $0 << 16 | UInt64($1) }, low: groups[4...].reduce(0) { $0 << 16 | UInt64($1) })
    } else {
      return nil
    }
  }

  private static func readIPv4(_ bytes: ArraySlice<UInt8>) -> UInt32? {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.count), part.allSatisfy(ASCII.isDigit), part.count == 1 || part.first != 0x30 else {
        return nil
      }
      let number = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 &- 0x30) }
      guard number < 256 else { return nil }
      value = value << 8 | number
    }
    return value
  }

  private static func readIPv6(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
    var groups: [UInt16] = []
    var gap: Int?
    var rest = bytes
    if rest.starts(with: [0x3a, 0x3a]) {
      gap = 0
      rest = rest.dropFirst(2)
    }
    while !rest.isEmpty {
      if let colon = rest.firstIndex(of: 0x3a) {
        guard groups.count < 8, let group = readGroup(rest[..<colon]) else { return nil }
        groups.append(group)
        rest = rest[(colon + 1)...]
        if rest.first == 0x3a {
          guard gap == nil else { return nil }
          gap = groups.count
          rest = rest.dropFirst()
        } else if rest.isEmpty {
          return nil
        }
      } else if rest.contains(UInt8(ascii: ".")) {
        guard groups.count <= 6, let ipv4 = readIPv4(rest) else { return nil }
        groups += [UInt16(truncatingIfNeeded: ipv4 >> 16), UInt16(truncatingIfNeeded: ipv4)]
        rest = []
      } else {
        guard groups.count < 8, let group = readGroup(rest) else { return nil }
        groups.append(group)
        rest = []
      }
    }
    if let gap {
      guard groups.count < 8 else { return nil }
      groups.insert(contentsOf: [UInt16](repeating: 0, count: 8 - groups.count), at: gap)
    }
    return groups.count == 8 ? groups : nil
  }

  private static func readGroup(_ bytes: ArraySlice<UInt8>) -> UInt16? {
    guard (1...4).contains(bytes.count) else { return nil }
    var group: UInt16 = 0
    for byte in bytes {
      guard let digit = ASCII.hexValue(byte) else { return nil }
      group = group << 4 | UInt16(digit)
    }
    return group
  }

  /// The dotted form, or RFC 5952: lowercase, the longest run of zeros as `::`.
  public var description: String {
    guard ipv4 == nil else {
      var bytes: [UInt8] = []
      append(to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    let groups = (0..<8).map { index in
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64((3 - index % 4) * 16))
    }
    var best = 0..<0
    var start = 0
    while start < 8 {
      var end = start
      while end < 8, groups[end] == 0 { end += 1 }
      if end - start > best.count { best = start..<end }
      start = max(end, start + 1)
    }
    func join(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
    guard best.count >= 2 else { return join(groups[...]) }
    return join(groups[..<best.lowerBound]) + "::" + join(groups[best.upperBound...])
  }

  /// Appends the description.
  public func append(to bytes: inout [UInt8]) {
    guard let ipv4 else { return bytes.append(description) }
    for shift: UInt32 in [24, 16, 8, 0] {
      if shift < 24 { bytes.append(UInt8(ascii: ".")) }
      bytes.append(decimal: Int(ipv4 >> shift & 255))
    }
  }
}

/// An address block: `10.0.0.0/8`, `fd00::/8`, or one address.
public struct AddressBlock: Sendable, Hashable {
  private let network: IPAddress
  private let prefix: Int

  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let address = IPAddress(String(parts[0])) else { return nil }
    let width = address.ipv4 == nil ? 128 : 32
    var length = width
    if parts.count == 2 {
      guard let given = Int(parts[1]), (0...width).contains(given), parts[1].utf8.allSatisfy(ASCII.isDigit) else {
        return nil
      }
      length = given
    }
    prefix = length + 128 - width
    network = Self.masked(address, prefix)
  }

  public func contains(_ address: IPAddress) -> Bool {
    Self.masked(address, prefix) == network
  }

  private static func masked(_ address: IPAddress, _ prefix: Int) -> IPAddress {
    IPAddress(
      high: address.high & (prefix >= 64 ? .max : ~(UInt64.max >> UInt64(prefix))),
      low: address.low & (prefix <= 64 ? 0 : prefix >= 128 ? .max : ~(UInt64.max >> UInt64(prefix - 64))))
  }
}
