import Glibc
import ParleyWire

@testable import ParleyNetworking

/// A client that sends exactly the given bytes in the given pieces. It blocks, so `serving` runs the test on a separate
/// thread.
final class RawClient {
  private let descriptor: Int32
  private var tls: TLSSession?
  private var isClosed = false
  /// Received and unread bytes.
  private(set) var received: [UInt8] = []

  enum Failure: Error, Equatable {
    case system(Int32)
    /// The server closed before the expected bytes arrived.
    case ended(got: String)
    case silence
    case badResponse(String)
  }

  /// - Parameter receiveBuffer: small, so that the server's send buffer fills soon.
  init(_ address: SocketAddress, tls: TLSConfiguration? = nil, receiveBuffer: Int32? = nil) throws {
    descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
    if var size = receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4) }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    var timeout = timeval(tv_sec: 100, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    let descriptor = self.descriptor
    guard address.withSystem({ connect(descriptor, $0, $1) }) == 0 else { throw Failure.system(errno) }
    if let tls { try handshake(tls) }
  }

  deinit { close() }

  // MARK: Sending

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    guard let tls else { return try sendRaw(bytes) }
    var rest = bytes[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(try rest.withUnsafeBytes { try tls.write($0) })
      try flushCiphertext()
    }
  }

  func sendRaw(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure.system(errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Sends until the peer stops reading. Returns the number of bytes.
  func sendUntilFull(_ piece: [UInt8], atMost limit: Int) throws -> Int {
    var sent = 0
    while sent < limit {
      let count = Glibc.send(descriptor, piece, piece.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      if count > 0 {
        sent += count
      } else if errno == EAGAIN {
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&poller, 1, 300) == 0 { return sent }
      } else if errno != EINTR {
        throw Failure.system(errno)
      }
    }
    return sent
  }

  /// Closes the write side.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
  }

  /// Closes with RST instead of FIN, like a killed process.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close()
  }

  // MARK: Receiving

  /// Waits for more bytes. Returns false at the end of the connection.
  @discardableResult
  func readMore() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let tls {
        let count = try buffer.withUnsafeMutableBytes { try tls.read(into: $0) }
        if count > 0 {
          received.append(contentsOf: buffer[..<count])
          return true
        }
        if tls.peerClosed { return false }
      }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      // A stopped and continued process gets EINTR here (signal(7)).
      if count < 0, errno == EINTR { continue }
      if count == 0 { return false }
      guard count > 0 else { throw errno == EAGAIN ? Failure.silence : Failure.system(errno) }
      guard let tls else {
        received.append(contentsOf: buffer[..<count])
        return true
      }
      buffer.withUnsafeBytes { tls.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }

  /// Reads available bytes without waiting.
  func readAvailable() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return }
      received.append(contentsOf: buffer[..<count])
    }
  }

  /// Reads until the server closes. Throws on a reset.
  func readToEnd() throws -> String {
    while try readMore() {}
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  /// Whether the connection has ended without further bytes, by FIN or reset.
  func isOver() -> Bool {
    do {
      while try readMore() {}
      return true
    } catch Failure.system(ECONNRESET) {
      return true
    } catch {
      return false
    }
  }

  /// Waits until `count` bytes were received.
  func receive(atLeast count: Int) throws {
    while received.count < count {
      guard try readMore() else { throw Failure.ended(got: String(decoding: received, as: UTF8.self)) }
    }
  }

  func read(_ count: Int) throws -> [UInt8] {
    try receive(atLeast: count)
    defer { received.removeFirst(count) }
    return Array(received.prefix(count))
  }

  struct Answer {
    let head: ReceivedResponse
    let body: [UInt8]

    var status: Int { Int(head.status.code) }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  /// Reads the next response. An interim response is returned separately.
  func answer(to method: ParleyWire.Method = .get) throws -> Answer {
    var parser = ResponseParser()
    while true {
      let bytes = received
      if let (head, length) = try parser.parse(bytes.span, to: method) {
        received.removeFirst(length)
        return Answer(head: head, body: head.isInterim ? [] : try readBody(head.framing))
      }
      guard try readMore() else { throw Failure.ended(got: String(decoding: received, as: UTF8.self)) }
    }
  }

  private func readBody(_ framing: Framing) throws -> [UInt8] {
    var decoder = BodyDecoder(framing, limit: .max)
    var body: [UInt8] = []
    while !decoder.isDone {
      let bytes = received
      switch try decoder.next(bytes.span) {
      case .payload(let range):
        body.append(contentsOf: bytes[range])
        received.removeFirst(range.upperBound)
      case .end(let length):
        received.removeFirst(length)
        return body
      case .more:
        received = []
        guard try readMore() else {
          guard decoder.mayEndHere else { throw Failure.ended(got: "\(body.count) bytes of a body") }
          return body
        }
      }
    }
    return body
  }

  // MARK: TLS

  private func handshake(_ configuration: TLSConfiguration) throws {
    let context = try TLSContext(configuration)
    let session = try context.session(serverName: "localhost")
    tls = session
    while true {
      let isDone = try session.handshake()
      try flushCiphertext()
      if isDone { return }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw count == 0 ? Failure.ended(got: "a part of a handshake") : Failure.system(errno) }
      buffer.withUnsafeBytes { session.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }

  /// Encrypts without sending, so that a test can send a part of the ciphertext.
  func ciphertext(of text: String) throws -> [UInt8] {
    guard let tls else { return [] }
    _ = try Array(text.utf8).withUnsafeBytes { try tls.write($0) }
    return takeCiphertext()
  }

  /// Sends close_notify.
  func sendCloseNotify() throws {
    tls?.close()
    try flushCiphertext()
  }

  private func takeCiphertext() -> [UInt8] {
    guard let tls else { return [] }
    var bytes: [UInt8] = []
    let count = tls.withCiphertext {
      bytes = Array($0)
      return $0.count
    }
    tls.dropCiphertext(count)
    return bytes
  }

  private func flushCiphertext() throws { try sendRaw(takeCiphertext()) }
}
