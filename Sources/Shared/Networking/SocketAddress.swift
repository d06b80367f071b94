import CParleyLinux
import Glibc

/// A socket address: an IP address with a port, or a Unix domain path.
public enum SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// The four bytes as a big-endian number.
  case ipv4(UInt32, port: UInt16)
  /// The sixteen bytes as two big-endian numbers. `scope` is the interface of a link-local address.
  case ipv6(high: UInt64, low: UInt64, port: UInt16, scope: UInt32)
  /// A path; empty for an unnamed socket.
  case unix(String)

  /// The longest path: 108 bytes with its terminator.
  static let maxPathLength = 107

  /// Parses `127.0.0.1:8080`, `[::1]:8080`, `:8080` (every interface) or `unix:/run/parley.sock`.
  public init?(_ text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty, path.utf8.count <= Self.maxPathLength, !path.utf8.contains(0) else { return nil }
      self = .unix(path)
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = String(text[..<colon])
    if host.isEmpty { host = "[::]" }
    if host == "localhost" { host = "127.0.0.1" }
    self.init(host: host, port: port)
  }

  /// Parses a numeric host, IPv6 with or without brackets.
  public init?(host: String, port: UInt16) {
    var four = in_addr()
    if unsafe inet_pton(AF_INET, host, &four) == 1 {
      self = .ipv4(UInt32(bigEndian: four.s_addr), port: port)
      return
    }
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    var six = in6_addr()
    guard unsafe inet_pton(AF_INET6, bare, &six) == 1 else { return nil }
    self = Self.from(six, port: port, scope: 0)
  }

  public var port: UInt16? {
    switch self {
    case .ipv4(_, let port), .ipv6(_, _, let port, _): port
    case .unix: nil
    }
  }

  /// The address without its port; `unix` for a Unix domain path.
  public var host: String {
    switch self {
    case .ipv4(let number, _):
      return "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    case .ipv6:
      var six = in6_addr()
      fill(&six)
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      guard unsafe inet_ntop(AF_INET6, &six, &text, socklen_t(text.count)) != nil else { return "::" }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    case .unix:
      return "unix"
    }
  }

  public var description: String {
    switch self {
    case .ipv4(_, let port): "\(host):\(port)"
    case .ipv6(_, _, let port, _): "[\(host)]:\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }

  // MARK: sockaddr

  var family: Int32 {
    switch self {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }

  private func fill(_ six: inout in6_addr) {
    guard case .ipv6(let high, let low, _, _) = self else { return }
    unsafe withUnsafeMutableBytes(of: &six) { bytes in
      unsafe bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
      unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
  }

  private static func from(_ six: in6_addr, port: UInt16, scope: UInt32) -> SocketAddress {
    var six = six
    return unsafe withUnsafeBytes(of: &six) { bytes in
      let high = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
      let low = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      // An IPv4-mapped address (RFC 4291 §2.5.5.2), the IPv4 peer of a dual-stack socket.
      if high == 0, low >> 32 == 0xffff { return .ipv4(UInt32(truncatingIfNeeded: low), port: port) }
      return .ipv6(high: high, low: low, port: port, scope: scope)
    }
  }

  /// Calls `body` with the address as a `sockaddr`.
  func withSystem<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var storage = sockaddr_storage()
    return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      let raw = UnsafeMutableRawPointer(pointer)
      let length: Int
      switch self {
      case .ipv4(let number, let port):
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = number.bigEndian
        length = MemoryLayout<sockaddr_in>.size
        unsafe raw.storeBytes(of: address, as: sockaddr_in.self)
      case .ipv6(_, _, let port, let scope):
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_scope_id = scope
        fill(&address.sin6_addr)
        length = MemoryLayout<sockaddr_in6>.size
        unsafe raw.storeBytes(of: address, as: sockaddr_in6.self)
      case .unix(let path):
        unsafe raw.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
        let bytes = Array(path.utf8.prefix(Self.maxPathLength))
        for (index, byte) in bytes.enumerated() {
          unsafe raw.storeBytes(of: byte, toByteOffset: MemoryLayout<sa_family_t>.size + index, as: UInt8.self)
        }
        length = MemoryLayout<sa_family_t>.size + bytes.count + 1
      }
      return unsafe body(raw.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
    }
  }

  /// Reads the address that a system call such as `accept4` or `getsockname` wrote.
  static func read(_ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32)
    -> (result: Int32, address: SocketAddress)
  {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      let raw = UnsafeMutableRawPointer(pointer)
      let result = unsafe call(raw.assumingMemoryBound(to: sockaddr.self), &length)
      let address: SocketAddress
      switch Int32(unsafe pointer.pointee.ss_family) {
      case AF_INET:
        let four = unsafe raw.load(as: sockaddr_in.self)
        address = .ipv4(UInt32(bigEndian: four.sin_addr.s_addr), port: UInt16(bigEndian: four.sin_port))
      case AF_INET6:
        let six = unsafe raw.load(as: sockaddr_in6.self)
        address = from(six.sin6_addr, port: UInt16(bigEndian: six.sin6_port), scope: six.sin6_scope_id)
      default:
        let start = MemoryLayout<sa_family_t>.size
        let end = min(Int(length), start + Self.maxPathLength)
        var path: [UInt8] = []
        for offset in start..<max(start, end) {
          let byte = unsafe raw.load(fromByteOffset: offset, as: UInt8.self)
          if byte == 0 { break }
          path.append(byte)
        }
        address = .unix(String(decoding: path, as: UTF8.self))
      }
      return (result, address)
    }
  }

  /// Resolves a host name or numeric address. Blocks during the DNS lookup: never call it on a loop.
  public static func resolve(host: String, port: UInt16) throws(SystemError) -> [SocketAddress] {
    if let numeric = SocketAddress(host: host, port: port) { return [numeric] }
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(host, String(port), &hints, &list)
    guard status == 0 else { throw SystemError("resolving \(host)", code: ENOENT) }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var entry = unsafe list
    while let current = unsafe entry {
      let found = unsafe current.pointee
      if let source = unsafe found.ai_addr, unsafe found.ai_addrlen <= socklen_t(MemoryLayout<sockaddr_storage>.size) {
        let read = unsafe read { pointer, length in
          unsafe UnsafeMutableRawPointer(pointer).copyMemory(from: source, byteCount: Int(found.ai_addrlen))
          unsafe length.pointee = found.ai_addrlen
          return 0
        }
        addresses.append(read.address)
      }
      unsafe entry = found.ai_next
    }
    return addresses
  }
}
