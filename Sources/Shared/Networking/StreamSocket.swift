import CParleyLinux
import Glibc

/// The socket of a stream, with its readiness. A new edge follows only EAGAIN or a short read.
final class StreamSocket {
  /// Nil once closed, so that a reference to the stream does not keep the socket open.
  private var descriptor: Descriptor?
  let number: Int32
  private let reactor: Reactor
  var isReadable = true
  var isWritable: Bool
  /// The poller reported the end of input. Unread bytes may precede it.
  var hasEnded = false

  enum Input {
    /// The number of bytes in the loop's buffer.
    case bytes(Int)
    case blocked
    case end
    case failed(SystemError)
  }

  init(_ descriptor: Descriptor, isConnecting: Bool, _ reactor: Reactor) {
    self.descriptor = descriptor
    number = descriptor.number
    self.reactor = reactor
    isWritable = !isConnecting
  }

  /// Creates a socket and starts to connect it. Returns whether it is connected.
  static func connect(to address: SocketAddress) throws(SystemError) -> (Descriptor, isConnected: Bool) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = try Descriptor(checking: socket(address.family, kind, 0), "socket")
    if address.port != nil { setNoDelay(descriptor.number) }
    let result = unsafe address.withSystem { unsafe Glibc.connect(descriptor.number, $0, $1) }
    if result != 0, errno != EINPROGRESS { throw SystemError("connect") }
    return (descriptor, result == 0)
  }

  /// The error of a finished `connect`.
  var connectError: SystemError? {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length)
    return code == 0 ? nil : SystemError("connect", code: code)
  }

  /// Reads into the loop's buffer.
  func read() -> Input {
    while true {
      let size = unsafe reactor.input.bytes.count
      let count = unsafe Glibc.read(number, reactor.input.bytes.baseAddress, size)
      if count > 0 {
        // A short read has emptied the socket: new input triggers a new edge.
        if count < size, !hasEnded, reactor.reportsEnd { awaitInput() }
        return .bytes(count)
      }
      if count == 0 {
        isReadable = true
        return .end
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        awaitInput()
        return .blocked
      default: return .failed(SystemError("read"))
      }
    }
  }

  private func awaitInput() {
    isReadable = false
    reactor.await(.readable, of: number)
  }

  /// Waits until the socket accepts bytes again.
  func awaitRoom() {
    isWritable = false
    reactor.await(.writable, of: number)
  }

  /// Closes the write side.
  func finish() { shutdown(number, Int32(SHUT_WR)) }

  /// Closes the socket. A reset tells the peer that the data is incomplete and frees the send buffer.
  func close(withReset isReset: Bool) {
    if isReset { setReset(number) } else { shutdown(number, Int32(SHUT_RDWR)) }
    reactor.remove(number)
    descriptor = nil
  }
}

/// Makes close(2) send a reset.
private func setReset(_ descriptor: Int32) {
  var option = linger(l_onoff: 1, l_linger: 0)
  unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
}

func setNoDelay(_ descriptor: Int32) {
  var on: Int32 = 1
  unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
}
