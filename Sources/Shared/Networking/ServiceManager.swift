// The systemd protocols for socket activation (sd_listen_fds(3)) and status notification (sd_notify(3)). Without
// systemd the variables are absent and the functions have no effect.

import CParleyLinux
import Glibc

/// A socket of the service manager, with its `FileDescriptorName=`.
public struct InheritedSocket: Sendable {
  public let name: String
  public let socket: ListeningSocket
}

public enum ServiceManager {
  /// Whether a file is a credential of the service (`LoadCredential=`): a copy that systemd makes at the start.
  public static func isCredential(_ path: String) -> Bool {
    guard let folder = variable("CREDENTIALS_DIRECTORY"), !folder.isEmpty else { return false }
    return path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
  }

  /// The inherited listening sockets. Unsets the variables, so that child processes do not inherit them.
  public static func inheritedSockets() -> [InheritedSocket] {
    defer {
      for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
    }
    guard let pid = variable("LISTEN_PID"), Int32(pid) == getpid(), let text = variable("LISTEN_FDS"),
      let count = Int32(text), (1...64).contains(count)
    else { return [] }
    let names =
      variable("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false).map(String.init) ?? []
    return (0..<Int(count)).map { index in
      InheritedSocket(
        name: index < names.count ? names[index] : "",
        socket: ListeningSocket(inheriting: Descriptor(owning: Int32(3 + index))))
    }
  }

  /// The time within which the service manager expects `WATCHDOG=1` again (sd_watchdog_enabled(3)); nil without a
  /// watchdog.
  public static var watchdogInterval: Duration? {
    guard let microseconds = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), microseconds > 0,
      variable("WATCHDOG_PID").map({ Int32($0) == getpid() }) ?? true
    else { return nil }
    return .microseconds(microseconds)
  }

  /// Sends a state to the service manager, for example `READY=1` or `STOPPING=1`.
  public static func notify(_ state: String) {
    guard var path = variable("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
      path.utf8.count <= SocketAddress.maxPathLength
    else { return }
    let isAbstract = path.hasPrefix("@")
    if isAbstract { path.removeFirst() }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return }
    let descriptor = Descriptor(owning: socket)
    let message = Array(state.utf8)
    if isAbstract {
      unsafe SocketAddress.withAbstract(path) { address, length in
        _ = unsafe sendto(descriptor.number, message, message.count, 0, address, length)
      }
    } else {
      _ = unsafe SocketAddress.unix(path).withSystem { address, length in
        unsafe sendto(descriptor.number, message, message.count, 0, address, length)
      }
    }
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }
}

extension SocketAddress {
  /// An abstract socket address (unix(7)): the path begins with a zero byte and is not terminated.
  fileprivate static func withAbstract(_ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(name.utf8.prefix(maxPathLength))
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
      for (index, byte) in bytes.enumerated() { unsafe path[index + 1] = byte }
    }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + bytes.count)
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }
}
