// Accepts connections on a listening socket, bound here or inherited from a service manager. The first loop accepts a
// bounded number per turn and assigns each connection to the loop with the fewest.

import CParleyLinux
import Glibc
import Synchronization

public final class Listener: DescriptorHandler {
  /// Runs on the loop of the connection.
  public typealias Serve = @Sendable (Descriptor, SocketAddress, isolated EventLoop) -> Void

  private let socket: ListeningSocket
  private let loops: [EventLoop]
  private let serve: Serve
  private let log: @Sendable (SystemError) -> Void
  private var isClosed = false
  /// Out of descriptors or memory: only the deadline resumes accepting. Otherwise every connection attempt would cost a
  /// failing call and a log line.
  private var isPaused = false
  private var pause = Listener.minPause

  private static let acceptsPerTurn = 64
  /// Pause after running out of descriptors, doubled up to one second.
  private static let minPause: Int64 = 50_000_000
  private static let maxPause: Int64 = 1_000_000_000

  private init(
    _ socket: ListeningSocket, loops: [EventLoop], serve: @escaping Serve,
    log: @escaping @Sendable (SystemError) -> Void
  ) {
    self.socket = socket
    self.loops = loops
    self.serve = serve
    self.log = log
  }

  /// Accepts from a listening socket until `close`.
  public static func start(
    _ socket: ListeningSocket, loops: [EventLoop], on loop: isolated EventLoop, serve: @escaping Serve,
    log: @escaping @Sendable (SystemError) -> Void
  ) throws(SystemError) -> Listener {
    let listener = Listener(socket, loops: loops, serve: serve, log: log)
    try loop.reactor.add(socket.descriptor, listener)
    loop.reactor.requestTurn(listener)
    return listener
  }

  public var address: SocketAddress { socket.address }
  private var descriptor: Descriptor { socket.descriptor }

  /// New connections are refused, or wait for the next process if a service manager owns the socket.
  public func close(on loop: isolated EventLoop) {
    guard !isClosed else { return }
    isClosed = true
    loop.reactor.remove(descriptor.number)
    socket.close()
  }

  func ready(_ readiness: Readiness, on loop: isolated EventLoop) {
    if !isPaused { accept(on: loop) }
  }

  private func accept(on loop: isolated EventLoop) {
    guard !isClosed else { return }
    for _ in 0..<Self.acceptsPerTurn {
      let (number, peer) = unsafe SocketAddress.read {
        unsafe accept4(socket.descriptor.number, $0, $1, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
      }
      if number >= 0 {
        pause = Self.minPause
        dispatch(Descriptor(owning: number), peer, loop)
        continue
      }
      switch errno {
      case EAGAIN:
        loop.reactor.await(.readable, of: descriptor.number)
        return
      case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH:
        continue  // The connection was aborted: accept(2) says to retry.
      default:
        // Connections wait in the backlog.
        log(SystemError("accept"))
        isPaused = true
        loop.reactor.setDeadline(loop.now + pause, of: descriptor.number)
        pause = min(pause * 2, Self.maxPause)
        return
      }
    }
    loop.reactor.requestTurn(self)
  }

  func repeated(on loop: isolated EventLoop) {
    ready(.readable, on: loop)
  }

  func expired(on loop: isolated EventLoop) {
    isPaused = false
    accept(on: loop)
  }

  func turnEnded(on loop: isolated EventLoop) {}

  private func dispatch(_ connection: Descriptor, _ peer: SocketAddress, _ loop: isolated EventLoop) {
    guard socket.isAllowed(connection) else { return }
    var target = loops.first ?? loop
    var least = Int.max
    for candidate in loops {
      let load = candidate.load.load(ordering: .relaxed)
      if load < least {
        least = load
        target = candidate
      }
    }
    let serve = self.serve
    // Counted at once, so that a burst is spread over the loops. The stream counts itself later.
    target.load.add(1, ordering: .relaxed)
    target.run { loop in
      serve(connection, peer, loop)
      loop.load.subtract(1, ordering: .relaxed)
    }
  }
}

/// A socket in the listening state.
public struct ListeningSocket: Sendable {
  /// Permissions of a Unix domain path.
  public enum Access: Sendable {
    /// Owner and group of the file.
    case group
    /// The user of this process, and root.
    case owner

    fileprivate var mode: mode_t {
      switch self {
      case .group: 0o660
      case .owner: 0o600
      }
    }
  }

  public let address: SocketAddress
  let descriptor: Descriptor
  private let access: Access
  /// Whether a service manager owns the socket.
  private let isInherited: Bool

  /// Binds and listens. Port 0 selects a free port, see `address`.
  public init(binding address: SocketAddress, for access: Access = .group) throws(SystemError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = try Descriptor(checking: socket(address.family, kind, 0), "socket")
    if case .unix(let path) = address {
      try Self.unlinkStale(path, address)
      // Set before `bind`, so that the path never has a wider mode.
      fchmod(descriptor.number, access.mode)
    } else {
      var on: Int32 = 1
      unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
      setNoDelay(descriptor.number)  // Accepted sockets inherit it.
    }
    guard unsafe address.withSystem({ unsafe bind(descriptor.number, $0, $1) }) == 0 else {
      throw SystemError("cannot listen on \(address)")
    }
    if case .unix(let path) = address { unsafe chmod(path, access.mode) }
    guard listen(descriptor.number, 4_096) == 0 else { throw SystemError("cannot listen on \(address)") }
    self.init(descriptor, access, isInherited: false)
  }

  /// Adopts a listening socket of a service manager.
  public init(inheriting descriptor: Descriptor) {
    self.init(descriptor, .group, isInherited: true)
  }

  private init(_ descriptor: Descriptor, _ access: Access, isInherited: Bool) {
    self.descriptor = descriptor
    self.access = access
    self.isInherited = isInherited
    let flags = fcntl(descriptor.number, F_GETFL)
    _ = fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK)
    _ = fcntl(descriptor.number, F_SETFD, FD_CLOEXEC)
    address = unsafe SocketAddress.read { unsafe getsockname(descriptor.number, $0, $1) }.address
    if address.port != nil { setNoDelay(descriptor.number) }
  }

  /// Checks the user of a connection again, because the mode of the path may have been changed.
  func isAllowed(_ connection: Descriptor) -> Bool {
    switch access {
    case .group: return true
    case .owner:
      guard let user = connection.peerUser else { return false }
      return user == 0 || user == geteuid()
    }
  }

  /// Stops listening, even if other processes share the descriptor.
  func close() {
    guard !isInherited else { return }
    shutdown(descriptor.number, Int32(SHUT_RDWR))
    if case .unix(let path) = address { unsafe unlink(path) }
  }

  /// Unlinks the socket of a process that has exited. Throws if a process listens on it.
  private static func unlinkStale(_ path: String, _ address: SocketAddress) throws(SystemError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw SystemError("cannot listen on \(address): the path is not a socket", code: EEXIST)
    }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let probe = try Descriptor(checking: socket(AF_UNIX, kind, 0), "socket")
    let result = unsafe address.withSystem { unsafe connect(probe.number, $0, $1) }
    // Only ECONNREFUSED means that no process listens: a busy one returns EAGAIN, another user's EACCES.
    guard result != 0, errno == ECONNREFUSED else { throw SystemError("cannot listen on \(address)", code: EADDRINUSE) }
    unsafe unlink(path)
  }
}
