// One listening descriptor per address, however it came: bound here, or inherited from a service manager. The first
// loop accepts, a bounded number a turn, and hands each connection to the loop that has fewest.

import CParleyLinux
import Glibc
import Synchronization

public final class Listener: DescriptorHandler {
  /// Runs on the loop that is to serve the connection.
  public typealias Serve = @Sendable (Descriptor, SocketAddress, isolated EventLoop) -> Void

  private let socket: ListeningSocket
  private let loops: [EventLoop]
  private let serve: Serve
  private let complain: @Sendable (SystemError) -> Void
  private var isClosed = false
  /// Out of descriptors: only the deadline wakes it, or every attempt to connect would cost a failing call and a line
  /// in the log.
  private var isResting = false
  private var pause = Listener.shortestPause

  private static let acceptsPerTurn = 64
  /// How long to wait when the process has no descriptor left, doubled up to a second.
  private static let shortestPause: Int64 = 50_000_000
  private static let longestPause: Int64 = 1_000_000_000

  private init(
    _ socket: ListeningSocket, loops: [EventLoop], serve: @escaping Serve,
    complain: @escaping @Sendable (SystemError) -> Void
  ) {
    self.socket = socket
    self.loops = loops
    self.serve = serve
    self.complain = complain
  }

  /// Accepts from a listening socket until `close`.
  public static func start(
    _ socket: ListeningSocket, loops: [EventLoop], on loop: isolated EventLoop, serve: @escaping Serve,
    complain: @escaping @Sendable (SystemError) -> Void
  ) throws(SystemError) -> Listener {
    let listener = Listener(socket, loops: loops, serve: serve, complain: complain)
    try loop.reactor.add(socket.descriptor, listener)
    loop.reactor.again(listener)
    return listener
  }

  public var address: SocketAddress { socket.address }
  private var descriptor: Descriptor { socket.descriptor }

  /// Who connects from now on is refused, or waits for the next process where a service manager keeps the socket.
  public func close(on loop: isolated EventLoop) {
    guard !isClosed else { return }
    isClosed = true
    loop.reactor.remove(descriptor.number)
    socket.refuse()
  }

  func ready(_ readiness: Readiness, on loop: isolated EventLoop) {
    if !isResting { accept(on: loop) }
  }

  private func accept(on loop: isolated EventLoop) {
    guard !isClosed else { return }
    for _ in 0..<Self.acceptsPerTurn {
      let (number, peer) = unsafe SocketAddress.read {
        unsafe accept4(socket.descriptor.number, $0, $1, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
      }
      if number >= 0 {
        pause = Self.shortestPause
        hand(Descriptor(owning: number), peer, loop)
        continue
      }
      switch errno {
      case EAGAIN:
        loop.reactor.await(.readable, of: descriptor.number)
        return
      case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH:
        continue  // that one connection is gone; accept(2) says to go on
      default:
        // Out of descriptors or memory: connections wait in the backlog until some are free.
        complain(SystemError("accept"))
        isResting = true
        loop.reactor.setDeadline(loop.now + pause, of: descriptor.number)
        pause = min(pause * 2, Self.longestPause)
        return
      }
    }
    loop.reactor.again(self)
  }

  func repeated(on loop: isolated EventLoop) {
    ready(.readable, on: loop)
  }

  func expired(on loop: isolated EventLoop) {
    isResting = false
    accept(on: loop)
  }

  func turnEnded(on loop: isolated EventLoop) {}

  private func hand(_ connection: Descriptor, _ peer: SocketAddress, _ loop: isolated EventLoop) {
    guard socket.admits(connection) else { return }
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
    // It counts from now on, so that a burst does not go to one loop; what serves it counts for itself.
    target.load.add(1, ordering: .relaxed)
    target.run { loop in
      serve(connection, peer, loop)
      loop.load.subtract(1, ordering: .relaxed)
    }
  }
}

/// A socket that listens, not yet accepted from.
public struct ListeningSocket: Sendable {
  /// Who may come to a path of the Unix domain.
  public enum Access: Sendable {
    /// Whoever is in the group of the file.
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
  /// A service manager holds it too.
  private let isInherited: Bool

  /// Binds and listens. Port 0 takes a free one, which `address` then tells.
  public init(binding address: SocketAddress, for access: Access = .group) throws(SystemError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = try Descriptor(checking: socket(address.family, kind, 0), "socket")
    if case .unix(let path) = address {
      try Self.removeStale(path, address)
      // The path is never there with a wider mode than this.
      fchmod(descriptor.number, access.mode)
    } else {
      var on: Int32 = 1
      unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
      setNoDelay(descriptor.number)  // what it accepts inherits this
    }
    guard unsafe address.withSystem({ unsafe bind(descriptor.number, $0, $1) }) == 0 else {
      throw SystemError("cannot listen on \(address)")
    }
    // Who may reach the daemon by its path is the folder's matter and the group's.
    if case .unix(let path) = address { unsafe chmod(path, access.mode) }
    guard listen(descriptor.number, 4_096) == 0 else { throw SystemError("cannot listen on \(address)") }
    self.init(descriptor, access, isInherited: false)
  }

  /// A socket that already listens, such as one from a service manager.
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

  /// Whether somebody who has connected may stay. The path's mode keeps others out already, unless somebody changed it.
  func admits(_ connection: Descriptor) -> Bool {
    switch access {
    case .group: return true
    case .owner:
      guard let user = connection.peerUser else { return false }
      return user == 0 || user == geteuid()
    }
  }

  /// Ends listening, although others may still hold the descriptor.
  func refuse() {
    guard !isInherited else { return }
    shutdown(descriptor.number, Int32(SHUT_RDWR))
    if case .unix(let path) = address { unsafe unlink(path) }
  }

  /// A path left behind by a process that is gone is taken over; one that answers is not.
  private static func removeStale(_ path: String, _ address: SocketAddress) throws(SystemError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw SystemError("cannot listen on \(address): something else has this path", code: EEXIST)
    }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let probe = try Descriptor(checking: socket(AF_UNIX, kind, 0), "socket")
    let answer = unsafe address.withSystem { unsafe connect(probe.number, $0, $1) }
    // Only a refusal says that nobody is there: one that is busy lets us wait, one of somebody else's forbids it.
    guard answer != 0, errno == ECONNREFUSED else { throw SystemError("cannot listen on \(address)", code: EADDRINUSE) }
    unsafe unlink(path)
  }
}
