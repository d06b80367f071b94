// What may be asked for somebody: addresses of the open internet, by the registries of IANA for special purposes (RFC 6890).
// Of IPv6 a list of what is in, since most of it is nothing yet; of IPv4 a list of what is out.

import ParleyWire

extension IPAddress {
  /// Whether it leads to the open internet, and not into this machine, its network, its provider's, or its cloud's.
  var isPublic: Bool {
    if ipv4 != nil { return !Self.closed.contains { $0.contains(self) } }
    // RFC 6052 §3.1: the translator goes on to the IPv4 address that stands at the end.
    if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 {
      return IPAddress(ipv4: UInt32(truncatingIfNeeded: low)).isPublic
    }
    // RFC 5214 §6.1: so does ISATAP, in any network.
    if low >> 32 & 0xfcff_ffff == 0x0000_5efe, !IPAddress(ipv4: UInt32(truncatingIfNeeded: low)).isPublic {
      return false
    }
    // RFC 4291 §2.4: of the rest only 2000::/3 is given out.
    return high >> 61 == 1 && !Self.closed.contains { $0.contains(self) }
  }

  private static let closed: [AddressBlock] = [
    "0.0.0.0/8",  // this network; Linux takes it for itself
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  // RFC 1918
    "100.64.0.0/10",  // carriers, and a cloud's metadata
    "127.0.0.0/8",  // loopback
    "168.63.129.16",  // a cloud's own agent
    "169.254.0.0/16",  // link-local, and clouds' metadata
    "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  // protocols, documentation
    "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24",  // AS112, AMT
    "192.88.99.0/24",  // relays of 6to4
    "198.18.0.0/15",  // benchmarks
    "224.0.0.0/4", "240.0.0.0/4",  // multicast, reserved, broadcast
    "2001::/23",  // Teredo, ORCHID, benchmarks
    "2001:db8::/32", "3fff::/20",  // documentation
    "2002::/16",  // 6to4, with an IPv4 address inside
    "2620:4f:8000::/48",  // AS112
  ].compactMap { AddressBlock($0) }
}
