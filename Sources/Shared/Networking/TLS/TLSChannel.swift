import Glibc

/// The TLS side of a stream: its session, and the bounds on a peer that sends records without data or does not receive
/// the responses to them.
struct TLSChannel {
  private let session: TLSSession
  /// Received ciphertext bytes without plaintext, see `maxUnproductive`.
  private var unproductive = 0
  /// Reading is suspended until the pending ciphertext is sent.
  private var awaitsRoom = false

  /// Some TLS records carry no data but require a response (RFC 8446 §4.6.3, KeyUpdate). The connection is closed after
  /// this many bytes of them. Each plaintext byte offsets `bytesPerPlainByte`, more than the size of the smallest
  /// record.
  private static let maxUnproductive = 131_072
  private static let bytesPerPlainByte = 64
  /// Maximum pending ciphertext bytes.
  private static let ciphertextAhead = 65_536

  enum Progress {
    case done
    /// The allowed number of bytes was encrypted, and the socket would accept more.
    case more
    case failed(StreamError)
  }

  init(_ session: TLSSession) { self.session = session }

  /// Unsent ciphertext bytes.
  var pending: Int { session.pending }
  var hasPeerClosed: Bool { session.peerClosed }
  var peerCertificate: Certificate? { session.peerCertificate }

  /// Advances the handshake. Returns true when it is complete.
  func handshake() throws(TLSFailure) -> Bool { try session.handshake() }

  // MARK: Input

  /// Ciphertext of the handshake.
  func feedHandshake(_ bytes: UnsafeRawBufferPointer) { unsafe session.feed(bytes) }

  /// Ciphertext from the socket.
  mutating func feed(_ bytes: UnsafeRawBufferPointer) {
    unsafe session.feed(bytes)
    unproductive += bytes.count
  }

  /// Whether the peer has sent too many records without data.
  var isAbused: Bool { unproductive > Self.maxUnproductive }

  /// Reads decrypted bytes. Returns 0 if none are available.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSFailure) -> Int {
    let count = try unsafe session.read(into: buffer)
    unproductive = max(0, unproductive - Self.bytesPerPlainByte * count)
    return count
  }

  /// Suspends reading from a peer that does not receive the responses to its input.
  mutating func suspendsReading() -> Bool {
    awaitsRoom = session.pending > Self.ciphertextAhead
    return awaitsRoom
  }

  /// Whether suspended reading may continue.
  mutating func mayResumeReading() -> Bool {
    guard awaitsRoom, session.pending <= Self.ciphertextAhead else { return false }
    awaitsRoom = false
    return true
  }

  // MARK: Output

  /// Sends the pending ciphertext while the socket accepts it.
  func send(to socket: StreamSocket) -> SystemError? {
    while socket.isWritable, session.pending > 0 {
      let written = unsafe session.withCiphertext { unsafe Glibc.write(socket.number, $0.baseAddress, $0.count) }
      if written > 0 {
        session.dropCiphertext(written)
      } else if errno == EAGAIN {
        socket.awaitRoom()
      } else if errno != EINTR {
        return SystemError("write")
      }
    }
    return nil
  }

  /// Encrypts and sends the output queue.
  func send(_ output: inout OutputQueue, to socket: StreamSocket, allowance: Int) -> Progress {
    let bound = output.total + allowance
    while output.total < bound {
      if let error = send(to: socket) { return .failed(.system(error)) }
      guard socket.isWritable, session.pending < Self.ciphertextAhead, !output.isEmpty else { return .done }
      var failure: TLSFailure?
      let hasSent = unsafe output.consumeNext { plain in
        do throws(TLSFailure) {
          return try unsafe session.write(plain)
        } catch {
          failure = error
          return 0
        }
      }
      if let failure { return .failed(.tls(failure.reason)) }
      guard let hasSent else { return .failed(.system(SystemError("reading a file", code: EIO))) }
      if !hasSent { return .done }
    }
    return .more
  }

  /// Sends close_notify, so that the peer can detect truncation.
  func finish(to socket: StreamSocket) -> SystemError? {
    session.close()
    return send(to: socket)
  }
}
