// Public addresses by the IANA special-purpose registries (RFC 6890). IPv4 is a deny list. IPv6 is an allow list, since most
// of its space is unassigned, with exceptions.

import ParleyWire

extension IPAddress {
  /// Whether the address is on the public internet: not this machine, its network, its provider's or its cloud's.
  var isPublic: Bool {
    if ipv4 != nil { return !Self.reserved.contains { $0.contains(self) } }
    // RFC 6052 §3.1: NAT64 forwards to the IPv4 address in the last 32 bits.
    if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 {
      return IPAddress(ipv4: UInt32(truncatingIfNeeded: low)).isPublic
    }
    // RFC 5214 §6.1: so does ISATAP, under any prefix.
    if low >> 32 & 0xfcff_ffff == 0x0000_5efe, !IPAddress(ipv4: UInt32(truncatingIfNeeded: low)).isPublic {
      return false
    }
    // RFC 4291 §2.4: global unicast is assigned from 2000::/3 only.
    return high >> 61 == 1 && !Self.reserved.contains { $0.contains(self) }
  }

  private static let reserved: [AddressBlock] = [
    "0.0.0.0/8",  // this network; Linux treats it as the local host
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  // RFC 1918
    "100.64.0.0/10",  // carrier-grade NAT, and a cloud's metadata service
    "127.0.0.0/8",  // loopback
    "168.63.129.16",  // a cloud's agent
    "169.254.0.0/16",  // link-local, and clouds' metadata services
    "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  // protocols, documentation
    "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24",  // AS112, AMT
    "192.88.99.0/24",  // 6to4 relays
    "198.18.0.0/15",  // benchmarks
    "224.0.0.0/4", "240.0.0.0/4",  // multicast, reserved, broadcast
    "2001::/23",  // Teredo, ORCHID, benchmarks
    "2001:db8::/32", "3fff::/20",  // documentation
    "2002::/16",  // 6to4, embeds an IPv4 address
    "2620:4f:8000::/48",  // AS112
  ].compactMap { AddressBlock($0) }
}
